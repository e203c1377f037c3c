-- Sqlite

-- due
SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND next_fire_at >= ? + 0 AND next_fire_at <= ? + 0 ORDER BY shard, next_fire_at, job_id LIMIT ?;

-- orphans
SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch < ? + 0 AND due_at <= ? LIMIT ?;

-- new
SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = 0 AND due_at >= ? + 0 AND due_at <= ? + 0 LIMIT ?;

-- waiting
SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = ? AND due_at <= ? + 0 ORDER BY due_at, id LIMIT ?;

-- due_triggers
SELECT id, job_id, due_at, expires_at FROM delayed_trigger WHERE shard = ? AND due_at >= ? + 0 AND due_at <= ? + 0 ORDER BY shard, due_at, id LIMIT ?;

-- unanswered
SELECT t.id, t.address FROM (SELECT id, address, ROW_NUMBER() OVER (PARTITION BY address ORDER BY id) AS place FROM run WHERE shard = ? AND state = 1 AND state < 9 AND marked_at < ? + 0) AS t WHERE t.place <= ? ORDER BY t.id LIMIT ?;

-- next_unanswered
SELECT MIN(marked_at) FROM run WHERE shard = ? AND state = 1 AND state < 9 AND marked_at >= ?;

-- prune
DELETE FROM run WHERE id IN (SELECT u.value FROM json_each(?) AS u);

-- free_slots
DELETE FROM limit_slot WHERE run_id IN (SELECT u.value FROM json_each(?) AS u);

-- stale_slots
SELECT DISTINCT s.run_id FROM limit_slot AS s LEFT JOIN run ON run.id = s.run_id WHERE run.id IS NULL OR run.state NOT IN (1, 2) OR (run.follow & 32) <> 0 LIMIT ?;

-- pending
SELECT run.id, run.due_at, job.flag_after_seconds FROM run LEFT JOIN job ON job.id = run.job_id WHERE run.shard = ? AND run.state = 0 AND run.state < 9 AND run.epoch = ? AND run.due_at >= ? AND run.due_at <= ? AND run.flagged_at IS NULL AND (run.reason IS NULL OR run.reason <> 'overlap') AND run.due_at + CASE WHEN job.flag_after_seconds > 0 THEN job.flag_after_seconds * 1000 ELSE ? END <= ? ORDER BY run.due_at, run.id LIMIT 1000;

-- oldest_waiting
SELECT due_at FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = ? AND flagged_at IS NULL AND (reason IS NULL OR reason <> 'overlap') ORDER BY due_at LIMIT 1;

-- late_starts
SELECT late.run_id, late.job_id, late.due_at, late.start_within_seconds FROM (SELECT run.id AS run_id, run.job_id, run.due_at, job.start_within_seconds, ROW_NUMBER() OVER (PARTITION BY run.job_id ORDER BY run.due_at, run.id) AS place FROM run LEFT JOIN job ON job.id = run.job_id WHERE run.shard = ? AND run.state = 0 AND run.state < 9 AND run.epoch = ? AND run.due_at <= ? AND COALESCE(job.start_within_seconds, 0) > 0 AND run.due_at + COALESCE(job.start_within_seconds, 0) * 1000 < ?) AS late WHERE late.place = 1 ORDER BY late.due_at, late.run_id LIMIT 1000;

-- agreed
SELECT id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND kill_agreed_at < ? ORDER BY id LIMIT 500;

-- not_agreed
SELECT id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND kill_asked_at < ? AND kill_agreed_at IS NULL ORDER BY id LIMIT 500;

-- long_running
SELECT id, job_id, epoch, due_at, COALESCE(sent_at, marked_at, due_at) AS sent_at, address, boot_id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND (epoch, due_at, id) > (?, ?, ?) AND (follow & 32) = 0 ORDER BY epoch, due_at, id LIMIT 500;

-- to_check
SELECT run.id AS run_id, run.job_id, app.name AS app, run.address, run.boot_id, run.due_at, COALESCE(run.sent_at, run.marked_at) AS sent_at, COALESCE(job.timeout_seconds, 0) AS timeout_seconds, e.expires_at, e.boot_id AS registered_boot, COALESCE(e.registered_at, 0) AS registered_at, run.follow, job.block, CASE WHEN job.updated_at > job.created_at THEN job.updated_at ELSE 0 END AS updated_at FROM run LEFT JOIN app ON app.id = run.app_id LEFT JOIN job ON job.id = run.job_id LEFT JOIN executor e ON e.app = app.name AND e.address = run.address WHERE run.id IN (SELECT u.value FROM json_each(?) AS u) AND +run.state = 2;

-- delayed_cursor
SELECT next_fire_at FROM job_clock WHERE delayed_job = ? AND delayed_job IS NOT NULL;

-- delayed_jobs
SELECT id, enabled, fires_left FROM job INDEXED BY job_kind WHERE schedule_kind = 'fixed_delay' AND shard = ? AND id > ? + 0 ORDER BY shard, id LIMIT ?;

-- open_links
SELECT job_id FROM run WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND (follow & 1) <> 0;

-- forgotten_ends
SELECT DISTINCT f.run_id FROM follow_up AS f CROSS JOIN run ON run.id = f.run_id WHERE f.at < ? AND run.shard IN (SELECT u.value FROM json_each(?) AS u) ORDER BY f.run_id LIMIT ?;

-- cursors
SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND (next_fire_at, job_id) > (? + 0, ?) ORDER BY shard, next_fire_at, job_id LIMIT ?;

-- scheduled
SELECT id, shard, revision FROM job WHERE id > ? AND enabled = TRUE AND durability = 'durable' AND schedule_kind NOT IN ('none', 'fixed_delay') ORDER BY id LIMIT ?;

-- old_alarms
SELECT id FROM alarm WHERE created_at < ? ORDER BY created_at LIMIT ?;

-- old_alerts
SELECT id FROM alert WHERE last_at < ? AND open_key IS NULL ORDER BY last_at LIMIT ?;

-- old_deliveries
SELECT id FROM alert_delivery WHERE created_at < ? AND next_at IS NULL ORDER BY created_at LIMIT ?;

-- old_audit
SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?;

-- old_keys
SELECT request_key FROM idempotency WHERE created_at < ? ORDER BY created_at LIMIT ?;

-- old_sessions
SELECT id_hash FROM session WHERE expires_at < ? ORDER BY expires_at LIMIT ?;

-- old_throttles
SELECT subject FROM login_throttle WHERE until_at < ? ORDER BY until_at LIMIT ?;

-- failing_too_often
SELECT f.job_id FROM job_failure f CROSS JOIN job j WHERE j.id = f.job_id AND j.pause_after_failures > 0 AND f.failures >= j.pause_after_failures AND j.enabled = TRUE ORDER BY f.job_id LIMIT ?;

-- summarize_passed
SELECT r.id, r.job_id, r.app_id, r.state, r.scheduled_at, r.due_at, r.sent_at, r.finished_at FROM run r WHERE r.id > ? AND r.id < ? ORDER BY r.id LIMIT ?;

-- summarize_ended
SELECT r.id, r.job_id, r.app_id, r.state, r.scheduled_at, r.due_at, r.sent_at, r.finished_at, o.is_doubtful FROM report_open o JOIN run r ON r.id = o.run_id WHERE o.run_id > ? ORDER BY o.run_id LIMIT ?;

-- to_scan
SELECT u.value FROM json_each(?) AS u WHERE (SELECT c.next_fire_at FROM job_clock AS c WHERE c.shard = u.value AND c.next_fire_at >= ? ORDER BY c.shard, c.next_fire_at LIMIT 1) <= ? OR (SELECT run.due_at FROM run WHERE run.shard = u.value AND run.state = 0 AND run.state < 9 AND run.epoch = 0 AND run.due_at >= ? ORDER BY run.due_at LIMIT 1) <= ? OR (SELECT d.due_at FROM delayed_trigger AS d WHERE d.shard = u.value AND d.due_at >= ? ORDER BY d.shard, d.due_at LIMIT 1) <= ?;

-- overdue
SELECT u.value->>0 FROM jsonb_each(?) AS u WHERE (SELECT run.due_at FROM run WHERE run.shard = u.value->>0 AND run.state = 0 AND run.state < 9 AND run.epoch = u.value->>1 AND run.due_at >= u.value->>2 AND run.flagged_at IS NULL AND (run.reason IS NULL OR run.reason <> 'overlap') ORDER BY run.due_at LIMIT 1) <= ?;

-- advance
UPDATE job_clock SET next_fire_at = u.value->>2 FROM jsonb_each(?) AS u WHERE job_clock.shard = u.value->>4 AND job_clock.next_fire_at = u.value->>1 AND job_clock.job_id = u.value->>0 AND job_clock.revision = u.value->>3;

-- unchanged
SELECT c.job_id FROM jsonb_each(?) AS u CROSS JOIN job_clock AS c ON c.shard = u.value->>4 AND c.next_fire_at = u.value->>1 AND c.job_id = u.value->>0 AND c.revision = u.value->>3;

-- record
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, follow) SELECT u.value->>0, j.id, j.app_id, j.shard, 0, u.value->>2, 0, 1, 1, u.value->>2, u.value->>2, 0, ?, ?, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' THEN 1 ELSE 0 END FROM jsonb_each(?) AS u CROSS JOIN job AS j ON j.id = u.value->>1;

-- new_runs
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.value->>0, j.id, j.app_id, j.shard, u.value->>2, u.value->>3, 0, 1, 1, u.value->>4, u.value->>5, 0, 0, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' AND u.value->>2 = 0 THEN 1 ELSE 0 END + CASE WHEN u.value->>2 = 5 THEN 4 ELSE 0 END FROM jsonb_each(?) AS u CROSS JOIN job AS j ON j.id = u.value->>1;

-- new_children
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.value->>0, j.id, j.app_id, j.shard, u.value->>2, u.value->>3, 0, 1, 1, u.value->>4, u.value->>5, 0, 0, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' AND u.value->>2 = 0 THEN 1 ELSE 0 END + CASE WHEN u.value->>2 = 5 THEN 4 ELSE 0 END FROM jsonb_each(?) AS u CROSS JOIN job AS j ON j.id = u.value->>1 WHERE NOT EXISTS (SELECT 1 FROM run AS made WHERE made.fire_no = u.value->>3 AND made.job_id = u.value->>1 AND made.cause = u.value->>2);

-- adopt
UPDATE run SET epoch = ?, owner = ? WHERE run.id IN (SELECT u.value FROM json_each(?) AS u) AND +run.shard = ? AND +run.state = 0 AND +run.epoch < ?;

-- insert_delayed
INSERT INTO delayed_trigger (shard, due_at, id, job_id, expires_at, created_at) SELECT ?, u.value->>1, u.value->>0, ?, u.value->>2, ? FROM jsonb_each(?) AS u;

-- insert_released
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, follow) SELECT u.value->>0, j.id, j.app_id, d.shard, 7, d.id, 0, 1, 1, u.value->>3, u.value->>4, 0, ?, ?, 0, j.follow FROM jsonb_each(?) AS u CROSS JOIN delayed_trigger AS d ON d.shard = ? AND d.due_at = u.value->>2 AND d.id = u.value->>1 CROSS JOIN job AS j ON j.id = d.job_id;

-- move_input
UPDATE run_input SET run_id = u.value->>0, expires_at = NULLIF(u.value->>5, 0) FROM jsonb_each(?) AS u WHERE run_input.run_id = u.value->>1;

-- mark
UPDATE run SET state = 1, mark_token = ?, marked_at = ?, owner = ?, sends = run.sends + 1, address = u.value->>2, boot_id = u.value->>3, candidates_id = u.value->>4, route_code = u.value->>5, revision = u.value->>6, app_id = u.value->>7, journal_id = u.value->>8 FROM jsonb_each(?) AS u WHERE run.id = u.value->>0 AND +run.state = 0 AND run.epoch = u.value->>1;

-- mark_limited
UPDATE run SET state = 1, mark_token = ?, marked_at = ?, owner = ?, sends = run.sends + 1, address = u.value->>2, boot_id = u.value->>3, candidates_id = u.value->>4, route_code = u.value->>5, revision = u.value->>6, app_id = u.value->>7, journal_id = u.value->>8, reason = NULL, follow = run.follow | 512 FROM jsonb_each(?) AS u WHERE run.id = u.value->>0 AND +run.state = 0 AND run.epoch = u.value->>1;

-- lock_limits
SELECT limit_rule.id, limit_rule.max_runs FROM limit_rule WHERE limit_rule.id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY limit_rule.id;

-- taken_slots
SELECT s.limit_id, s.slot_key, s.slot FROM jsonb_each(?) AS u CROSS JOIN limit_slot AS s ON s.limit_id = u.value->>0 AND s.slot_key = u.value->>1;

-- count_taken_slots
SELECT s.limit_id, s.slot_key, COUNT(*) FROM jsonb_each(?) AS u CROSS JOIN limit_slot AS s ON s.limit_id = u.value->>0 AND s.slot_key = u.value->>1 GROUP BY s.limit_id, s.slot_key;

-- add_parts
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, address, follow) SELECT u.value->>0, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, u.value->>1, run.parts, run.attempt, run.scheduled_at, run.due_at, 0, run.epoch, ?, 0, NULLIF(u.value->>2, ''), run.follow FROM jsonb_each(?) AS u CROSS JOIN run ON run.id = ?;

-- outdated
SELECT u.value->>0, u.value->>1 FROM jsonb_each(?) AS u LEFT JOIN job ON job.id = u.value->>0 WHERE job.revision IS NULL OR job.revision <> u.value->>1;

-- unmark
UPDATE run SET state = 0, sends = run.sends - 1, mark_token = NULL, marked_at = NULL, boot_id = NULL, revision = NULL, journal_id = NULL, follow = run.follow & 32255, address = CASE u.value->>2 WHEN 1 THEN run.address END FROM jsonb_each(?) AS u WHERE run.id = u.value->>0 AND +run.state = 1 AND run.mark_token = u.value->>1;

-- cancel
UPDATE run SET state = 12, reason = ?, finished_at = ? WHERE run.id IN (SELECT u.value FROM json_each(?) AS u) AND +run.state = 0;

-- accept
UPDATE run SET state = CASE WHEN run.state = 1 THEN 2 ELSE run.state END, sent_at = COALESCE(run.sent_at, u.value->>1), received_at = COALESCE(run.received_at, u.value->>2) FROM jsonb_each(?) AS u WHERE run.id = u.value->>0;

-- settle_successes
UPDATE run SET state = u.value->>1, result_code = u.value->>2, result_msg = u.value->>3, reason = u.value->>4, sent_at = COALESCE(run.sent_at, u.value->>5), received_at = COALESCE(run.received_at, u.value->>6), finished_at = ? FROM jsonb_each(?) AS u WHERE run.id = u.value->>0 AND +run.state IN (1, 2) AND run.follow = 0 AND (u.value->>7 IS NULL OR (u.value->>7 IN (-1, run.app_id) AND (run.boot_id IS NULL OR run.boot_id = u.value->>8)));

-- settle
UPDATE run SET state = u.value->>1, result_code = u.value->>2, result_msg = u.value->>3, reason = u.value->>4, sent_at = COALESCE(run.sent_at, u.value->>5), received_at = COALESCE(run.received_at, u.value->>6), finished_at = ? FROM jsonb_each(?) AS u WHERE run.id = u.value->>0 AND +run.state < 9;

-- lock_jobs
SELECT job.id, job.retries, job.enabled, job.retry_delay, job.shard, job.pause_after_failures FROM job WHERE job.id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY job.id;

-- lock_runs
SELECT run.id, run.job_id, run.shard, run.cause, run.fire_no, run.part, run.attempt, run.state, run.kill_asked_at AS kill_asked, run.sends, run.follow, run.app_id, run.boot_id, run.journal_id, run.address, (SELECT job.app_id FROM job WHERE job.id = run.job_id) AS job_app_id FROM run WHERE run.id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY run.id;

-- cancel_retries
UPDATE run SET state = 12, reason = 'late_result', finished_at = ? FROM jsonb_each(?) AS u WHERE run.fire_no = u.value->>0 AND run.job_id = u.value->>1 AND run.cause = u.value->>2 AND run.part = u.value->>3 AND run.attempt > u.value->>4 AND +run.state = 0;

-- retry
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.value->>0, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, run.part, run.parts, run.attempt + 1, run.scheduled_at, u.value->>2, 0, 0, 0, run.follow & 32215 FROM jsonb_each(?) AS u CROSS JOIN run ON run.id = u.value->>1 WHERE NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = run.fire_no AND later.job_id = run.job_id AND later.cause = run.cause AND later.part = run.part AND later.attempt = run.attempt + 1);

-- retry_input
INSERT INTO run_input (run_id, params, address, is_of_part, repeats_saved, parts, part_params, traceparent, priority) SELECT u.value->>0, i.params, i.address, i.is_of_part, i.repeats_saved, i.parts, i.part_params, i.traceparent, i.priority FROM jsonb_each(?) AS u CROSS JOIN run_input AS i ON i.run_id = u.value->>1;

-- follow_ups
INSERT INTO follow_up (id, run_id, kind, job_id, at) SELECT u.value->>0, u.value->>1, u.value->>2, u.value->>3, ? FROM jsonb_each(?) AS u WHERE NOT EXISTS (SELECT 1 FROM follow_up AS made WHERE made.id = u.value->>0);

-- active
SELECT run.address, COUNT(*) FROM json_each(?) AS u CROSS JOIN run ON run.shard = u.value WHERE run.state IN (1, 2) AND run.state < 9 AND run.address IS NOT NULL AND (run.follow & 32) = 0 GROUP BY run.address;

-- keep_sets
INSERT INTO candidate_set (id, addresses, used_at) SELECT u.value->>0, u.value->>1, ? FROM jsonb_each(?) AS u WHERE NOT EXISTS (SELECT 1 FROM candidate_set AS kept WHERE kept.id = u.value->>0);

-- renew_sets
UPDATE candidate_set SET used_at = ? WHERE candidate_set.id IN (SELECT u.value FROM json_each(?) AS u);

-- add_traces
INSERT INTO run_choice (run_id, detail) SELECT u.value->>0, u.value->>1 FROM jsonb_each(?) AS u;

-- add_sticky
INSERT INTO sticky (job_id, address, chosen_at) SELECT u.value->>0, u.value->>1, ? FROM jsonb_each(?) AS u;

-- lock_going
SELECT r.id, r.job_id, r.app_id, r.cause, r.fire_no, r.part, r.attempt, r.state, r.scheduled_at FROM run r WHERE r.id IN (SELECT u.value FROM json_each(?) AS u) AND (r.state >= 9 OR r.state IN (3, 4) AND COALESCE(r.finished_at, r.due_at) < ?) AND NOT EXISTS (SELECT 1 FROM run s WHERE s.fire_no = r.fire_no AND s.job_id = r.job_id AND s.cause = r.cause AND NOT (s.state >= 9 OR s.state IN (3, 4) AND COALESCE(s.finished_at, s.due_at) < ?)) AND NOT (r.state >= 9 AND EXISTS (SELECT 1 FROM report_open o WHERE o.run_id = r.id)) AND NOT EXISTS (SELECT 1 FROM run p JOIN run q ON q.fire_no = p.fire_no AND q.job_id = p.job_id AND q.cause = p.cause WHERE r.cause = 3 AND p.id = r.fire_no AND q.state < 9) AND NOT EXISTS (SELECT 1 FROM workflow_run w WHERE r.cause = 5 AND w.run_id = r.fire_no >> 10) ORDER BY r.id;

-- lock_pending
SELECT run.id, run.job_id, run.due_at FROM run WHERE run.id IN (SELECT u.value FROM json_each(?) AS u) AND +run.state = 0 AND run.flagged_at IS NULL ORDER BY run.id;

-- flag
UPDATE run SET flagged_at = ? WHERE run.id IN (SELECT u.value FROM json_each(?) AS u);

-- note_overlap
UPDATE run SET reason = ? WHERE run.id IN (SELECT u.value FROM json_each(?) AS u) AND +run.state = 0;

-- close_alarms
UPDATE alarm SET open_at = NULL, closed_at = ? WHERE alarm.run_id IN (SELECT u.value FROM json_each(?) AS u) AND +alarm.open_at > 0;

-- escalate
UPDATE alarm SET level = 1, escalated_at = ? WHERE alarm.id IN (SELECT u.value FROM json_each(?) AS u);

-- clear_marks
UPDATE alarm SET unrouted_at = NULL WHERE alarm.id IN (SELECT u.value FROM json_each(?) AS u) AND +alarm.unrouted_at > 0;

-- astray
SELECT run.id FROM json_each(?) AS u CROSS JOIN run ON run.shard = u.value WHERE run.state < 9 AND run.shard <> run.job_id % ? ORDER BY run.id LIMIT 1000;

-- delayed_cursors
SELECT c.delayed_job FROM json_each(?) AS u CROSS JOIN job_clock AS c ON c.delayed_job = u.value AND c.delayed_job IS NOT NULL;

-- recorded
SELECT run.fire_no, run.job_id FROM jsonb_each(?) AS u CROSS JOIN run ON run.fire_no = u.value->>0 AND run.job_id = u.value->>1 AND run.cause = 0 AND run.part = 0 AND run.attempt = 1;

-- open_of_backfills
SELECT run.job_id, COUNT(*) FROM json_each(?) AS u CROSS JOIN run ON run.shard = u.value WHERE run.state IN (0, 1, 2) AND run.state < 9 AND run.cause = 4 GROUP BY run.job_id;

-- open_runs
SELECT run.state, COUNT(*) FROM json_each(?) AS u CROSS JOIN run ON run.shard = u.value WHERE run.state < 9 GROUP BY run.state;

-- grant_loops
UPDATE loop_lease SET epoch = u.value->>1 + 1, app_id = u.value->>3, address = u.value->>4, boot_id = u.value->>5, is_stopped = FALSE, counters = u.value->>6, report = '', reported_at = 0, granted_at = ?, expires_at = ? + ? FROM jsonb_each(?) AS u WHERE loop_lease.job_id = u.value->>0 AND loop_lease.epoch = u.value->>1 AND loop_lease.expires_at = u.value->>2 AND loop_lease.expires_at < ? AND loop_lease.is_wanted;

-- granted_loops
SELECT u.value->>0 FROM jsonb_each(?) AS u CROSS JOIN loop_lease ON loop_lease.job_id = u.value->>0 WHERE loop_lease.epoch = u.value->>1 + 1 AND loop_lease.boot_id = u.value->>2 AND loop_lease.is_stopped = FALSE;

-- renew_loops
UPDATE loop_lease SET report = u.value->>2, reported_at = ?, expires_at = ? + ? FROM jsonb_each(?) AS u WHERE loop_lease.job_id = u.value->>0 AND loop_lease.epoch = u.value->>1 AND loop_lease.boot_id = ? AND loop_lease.app_id = ? AND loop_lease.is_stopped = FALSE AND loop_lease.expires_at > ?;

-- renewed_loops
SELECT u.value->>0 FROM jsonb_each(?) AS u CROSS JOIN loop_lease ON loop_lease.job_id = u.value->>0 WHERE loop_lease.epoch = u.value->>1 AND loop_lease.boot_id = ? AND loop_lease.app_id = ? AND loop_lease.is_stopped = FALSE AND loop_lease.expires_at > ?;

-- release_loops
UPDATE loop_lease SET report = u.value->>2, reported_at = ?, expires_at = 0, is_stopped = TRUE FROM jsonb_each(?) AS u WHERE loop_lease.job_id = u.value->>0 AND loop_lease.epoch = u.value->>1 AND loop_lease.boot_id = ? AND loop_lease.app_id = ?;

-- free_loops
SELECT job_id FROM json_each(?) AS u CROSS JOIN loop_lease ON loop_lease.shard = u.value WHERE loop_lease.expires_at < ? AND loop_lease.is_wanted ORDER BY job_id;

-- loop_ends
SELECT job_id, app_id, epoch, expires_at, is_wanted, boot_id, is_stopped FROM json_each(?) AS u CROSS JOIN loop_lease ON loop_lease.shard = u.value WHERE loop_lease.is_wanted OR loop_lease.expires_at > 0 ORDER BY job_id;

-- watched_loops
SELECT job_id, is_wanted, is_stopped, expires_at, reported_at, alarmed_at, report FROM json_each(?) AS u CROSS JOIN loop_lease ON loop_lease.shard = u.value WHERE loop_lease.is_wanted OR loop_lease.alarmed_at > 0 ORDER BY job_id;

-- Postgres

-- due
SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND next_fire_at >= ? AND next_fire_at <= ? ORDER BY shard, next_fire_at, job_id LIMIT ?;

-- orphans
SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch < ? AND due_at <= ? LIMIT ?;

-- new
SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = 0 AND due_at >= ? AND due_at <= ? LIMIT ?;

-- waiting
SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?;

-- due_triggers
SELECT id, job_id, due_at, expires_at FROM delayed_trigger WHERE shard = ? AND due_at >= ? AND due_at <= ? ORDER BY shard, due_at, id LIMIT ?;

-- unanswered
SELECT t.id, t.address FROM (SELECT id, address, ROW_NUMBER() OVER (PARTITION BY address ORDER BY id) AS place FROM run WHERE shard = ? AND state = 1 AND state < 9 AND marked_at < ?) AS t WHERE t.place <= ? ORDER BY t.id LIMIT ?;

-- next_unanswered
SELECT MIN(marked_at) FROM run WHERE shard = ? AND state = 1 AND state < 9 AND marked_at >= ?;

-- prune
DELETE FROM run WHERE id IN (SELECT unnest(?::bigint[]));

-- free_slots
DELETE FROM limit_slot WHERE run_id IN (SELECT unnest(?::bigint[]));

-- stale_slots
SELECT DISTINCT s.run_id FROM limit_slot AS s LEFT JOIN run ON run.id = s.run_id WHERE run.id IS NULL OR run.state NOT IN (1, 2) OR (run.follow & 32) <> 0 LIMIT ?;

-- pending
SELECT run.id, run.due_at, job.flag_after_seconds FROM run LEFT JOIN job ON job.id = run.job_id WHERE run.shard = ? AND run.state = 0 AND run.state < 9 AND run.epoch = ? AND run.due_at >= ? AND run.due_at <= ? AND run.flagged_at IS NULL AND (run.reason IS NULL OR run.reason <> 'overlap') AND run.due_at + CASE WHEN job.flag_after_seconds > 0 THEN job.flag_after_seconds * 1000 ELSE ? END <= ? ORDER BY run.due_at, run.id LIMIT 1000;

-- oldest_waiting
SELECT due_at FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = ? AND flagged_at IS NULL AND (reason IS NULL OR reason <> 'overlap') ORDER BY due_at LIMIT 1;

-- late_starts
SELECT late.run_id, late.job_id, late.due_at, late.start_within_seconds FROM (SELECT run.id AS run_id, run.job_id, run.due_at, job.start_within_seconds, ROW_NUMBER() OVER (PARTITION BY run.job_id ORDER BY run.due_at, run.id) AS place FROM run LEFT JOIN job ON job.id = run.job_id WHERE run.shard = ? AND run.state = 0 AND run.state < 9 AND run.epoch = ? AND run.due_at <= ? AND COALESCE(job.start_within_seconds, 0) > 0 AND run.due_at + COALESCE(job.start_within_seconds, 0) * 1000 < ?) AS late WHERE late.place = 1 ORDER BY late.due_at, late.run_id LIMIT 1000;

-- agreed
SELECT id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND kill_agreed_at < ? ORDER BY id LIMIT 500;

-- not_agreed
SELECT id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND kill_asked_at < ? AND kill_agreed_at IS NULL ORDER BY id LIMIT 500;

-- long_running
SELECT id, job_id, epoch, due_at, COALESCE(sent_at, marked_at, due_at) AS sent_at, address, boot_id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND (epoch, due_at, id) > (?, ?, ?) AND (follow & 32) = 0 ORDER BY epoch, due_at, id LIMIT 500;

-- to_check
SELECT run.id AS run_id, run.job_id, app.name AS app, run.address, run.boot_id, run.due_at, COALESCE(run.sent_at, run.marked_at) AS sent_at, COALESCE(job.timeout_seconds, 0) AS timeout_seconds, e.expires_at, e.boot_id AS registered_boot, COALESCE(e.registered_at, 0) AS registered_at, run.follow, job.block, CASE WHEN job.updated_at > job.created_at THEN job.updated_at ELSE 0 END AS updated_at FROM run LEFT JOIN app ON app.id = run.app_id LEFT JOIN job ON job.id = run.job_id LEFT JOIN executor e ON e.app = app.name AND e.address = run.address WHERE run.id IN (SELECT unnest(?::bigint[])) AND run.state + 0 = 2;

-- delayed_cursor
SELECT next_fire_at FROM job_clock WHERE delayed_job = ? AND delayed_job IS NOT NULL;

-- delayed_jobs
SELECT id, enabled, fires_left FROM job WHERE schedule_kind = 'fixed_delay' AND shard = ? AND id > ? ORDER BY shard, id LIMIT ?;

-- open_links
SELECT job_id FROM run WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND (follow & 1) <> 0;

-- forgotten_ends
SELECT DISTINCT f.run_id FROM follow_up AS f CROSS JOIN LATERAL (SELECT shard FROM run WHERE id = f.run_id OFFSET 0) AS run WHERE f.at < ? AND run.shard = ANY(?::bigint[]) ORDER BY f.run_id LIMIT ?;

-- cursors
SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND (next_fire_at, job_id) > (?, ?) ORDER BY shard, next_fire_at, job_id LIMIT ?;

-- scheduled
SELECT id, shard, revision FROM job WHERE id > ? AND enabled = TRUE AND durability = 'durable' AND schedule_kind NOT IN ('none', 'fixed_delay') ORDER BY id LIMIT ?;

-- old_alarms
SELECT id FROM alarm WHERE created_at < ? ORDER BY created_at LIMIT ?;

-- old_alerts
SELECT id FROM alert WHERE last_at < ? AND open_key IS NULL ORDER BY last_at LIMIT ?;

-- old_deliveries
SELECT id FROM alert_delivery WHERE created_at < ? AND next_at IS NULL ORDER BY created_at LIMIT ?;

-- old_audit
SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?;

-- old_keys
SELECT request_key FROM idempotency WHERE created_at < ? ORDER BY created_at LIMIT ?;

-- old_sessions
SELECT id_hash FROM session WHERE expires_at < ? ORDER BY expires_at LIMIT ?;

-- old_throttles
SELECT subject FROM login_throttle WHERE until_at < ? ORDER BY until_at LIMIT ?;

-- failing_too_often
SELECT f.job_id FROM job_failure f CROSS JOIN job j WHERE j.id = f.job_id AND j.pause_after_failures > 0 AND f.failures >= j.pause_after_failures AND j.enabled = TRUE ORDER BY f.job_id LIMIT ?;

-- summarize_passed
SELECT r.id, r.job_id, r.app_id, r.state, r.scheduled_at, r.due_at, r.sent_at, r.finished_at FROM run r WHERE r.id > ? AND r.id < ? ORDER BY r.id LIMIT ?;

-- summarize_ended
SELECT r.id, r.job_id, r.app_id, r.state, r.scheduled_at, r.due_at, r.sent_at, r.finished_at, o.is_doubtful FROM report_open o JOIN run r ON r.id = o.run_id WHERE o.run_id > ? ORDER BY o.run_id LIMIT ?;

-- to_scan
SELECT u.shard FROM unnest(?::bigint[]) AS u(shard) WHERE (SELECT c.next_fire_at FROM job_clock AS c WHERE c.shard = u.shard AND c.next_fire_at >= ? ORDER BY c.shard, c.next_fire_at LIMIT 1) <= ? OR (SELECT run.due_at FROM run WHERE run.shard = u.shard AND run.state = 0 AND run.state < 9 AND run.epoch = 0 AND run.due_at >= ? ORDER BY run.due_at LIMIT 1) <= ? OR (SELECT d.due_at FROM delayed_trigger AS d WHERE d.shard = u.shard AND d.due_at >= ? ORDER BY d.shard, d.due_at LIMIT 1) <= ?;

-- overdue
SELECT u.shard FROM unnest(?::int[], ?::bigint[], ?::bigint[]) AS u(shard, epoch, from_at) WHERE (SELECT run.due_at FROM run WHERE run.shard = u.shard AND run.state = 0 AND run.state < 9 AND run.epoch = u.epoch AND run.due_at >= u.from_at AND run.flagged_at IS NULL AND (run.reason IS NULL OR run.reason <> 'overlap') ORDER BY run.due_at LIMIT 1) <= ?;

-- advance
UPDATE job_clock SET next_fire_at = u.next FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::int[]) AS u(job_id, old, next, revision, shard) WHERE job_clock.shard = u.shard AND job_clock.next_fire_at = u.old AND job_clock.job_id = u.job_id AND job_clock.revision = u.revision;

-- unchanged
SELECT c.job_id FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::int[]) AS u(job_id, old, next, revision, shard) JOIN job_clock AS c ON c.shard = u.shard AND c.next_fire_at = u.old AND c.job_id = u.job_id AND c.revision = u.revision;

-- record
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, follow) SELECT u.id, j.id, j.app_id, j.shard, 0, u.at, 0, 1, 1, u.at, u.at, 0, ?, ?, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' THEN 1 ELSE 0 END FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, job_id, at) JOIN job AS j ON j.id = u.job_id;

-- new_runs
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.id, j.id, j.app_id, j.shard, u.cause, u.fire_no, 0, 1, 1, u.scheduled_at, u.due_at, 0, 0, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' AND u.cause = 0 THEN 1 ELSE 0 END + CASE WHEN u.cause = 5 THEN 4 ELSE 0 END FROM unnest(?::bigint[], ?::bigint[], ?::smallint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, job_id, cause, fire_no, scheduled_at, due_at) JOIN job AS j ON j.id = u.job_id;

-- new_children
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.id, j.id, j.app_id, j.shard, u.cause, u.fire_no, 0, 1, 1, u.scheduled_at, u.due_at, 0, 0, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' AND u.cause = 0 THEN 1 ELSE 0 END + CASE WHEN u.cause = 5 THEN 4 ELSE 0 END FROM unnest(?::bigint[], ?::bigint[], ?::smallint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, job_id, cause, fire_no, scheduled_at, due_at) JOIN job AS j ON j.id = u.job_id WHERE NOT EXISTS (SELECT 1 FROM run AS made WHERE made.fire_no = u.fire_no AND made.job_id = u.job_id AND made.cause = u.cause);

-- adopt
UPDATE run SET epoch = ?, owner = ? WHERE run.id IN (SELECT unnest(?::bigint[])) AND run.shard + 0 = ? AND run.state + 0 = 0 AND run.epoch + 0 < ?;

-- insert_delayed
INSERT INTO delayed_trigger (shard, due_at, id, job_id, expires_at, created_at) SELECT ?, u.due_at, u.id, ?, u.expires_at, ? FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, due_at, expires_at);

-- insert_released
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, follow) SELECT u.run_id, j.id, j.app_id, d.shard, 7, d.id, 0, 1, 1, u.scheduled_at, u.due_at, 0, ?, ?, 0, j.follow FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS u(run_id, id, place, scheduled_at, due_at, expires_at) JOIN delayed_trigger AS d ON d.shard = ? AND d.due_at = u.place AND d.id = u.id JOIN job AS j ON j.id = d.job_id;

-- move_input
UPDATE run_input SET run_id = u.run_id, expires_at = NULLIF(u.expires_at, 0) FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS u(run_id, id, place, scheduled_at, due_at, expires_at) WHERE run_input.run_id = u.id;

-- mark
UPDATE run SET state = 1, mark_token = ?, marked_at = ?, owner = ?, sends = run.sends + 1, address = u.address, boot_id = NULLIF(u.boot_id, ''), candidates_id = u.candidates_id, route_code = u.route_code, revision = u.revision, app_id = u.app_id, journal_id = NULLIF(u.journal_id, '') FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::bigint[], ?::smallint[], ?::bigint[], ?::bigint[], ?::text[]) AS u(id, epoch, address, boot_id, candidates_id, route_code, revision, app_id, journal_id) WHERE run.id = u.id AND run.state + 0 = 0 AND run.epoch = u.epoch;

-- mark_limited
UPDATE run SET state = 1, mark_token = ?, marked_at = ?, owner = ?, sends = run.sends + 1, address = u.address, boot_id = NULLIF(u.boot_id, ''), candidates_id = u.candidates_id, route_code = u.route_code, revision = u.revision, app_id = u.app_id, journal_id = NULLIF(u.journal_id, ''), reason = NULL, follow = run.follow | 512 FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::bigint[], ?::smallint[], ?::bigint[], ?::bigint[], ?::text[]) AS u(id, epoch, address, boot_id, candidates_id, route_code, revision, app_id, journal_id) WHERE run.id = u.id AND run.state + 0 = 0 AND run.epoch = u.epoch;

-- lock_limits
SELECT limit_rule.id, limit_rule.max_runs FROM limit_rule WHERE limit_rule.id IN (SELECT unnest(?::bigint[])) ORDER BY limit_rule.id FOR UPDATE;

-- taken_slots
SELECT s.limit_id, s.slot_key, s.slot FROM unnest(?::bigint[], ?::bigint[]) AS u(limit_id, slot_key) JOIN limit_slot AS s ON s.limit_id = u.limit_id AND s.slot_key = u.slot_key;

-- count_taken_slots
SELECT s.limit_id, s.slot_key, COUNT(*) FROM unnest(?::bigint[], ?::bigint[]) AS u(limit_id, slot_key) JOIN limit_slot AS s ON s.limit_id = u.limit_id AND s.slot_key = u.slot_key GROUP BY s.limit_id, s.slot_key;

-- add_parts
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, address, follow) SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, u.part, run.parts, run.attempt, run.scheduled_at, run.due_at, 0, run.epoch, ?, 0, NULLIF(u.address, ''), run.follow FROM unnest(?::bigint[], ?::int[], ?::text[]) AS u(id, part, address) JOIN run ON run.id = ?;

-- outdated
SELECT u.id, u.revision FROM unnest(?::bigint[], ?::bigint[]) AS u(id, revision) LEFT JOIN job ON job.id = u.id WHERE job.revision IS NULL OR job.revision <> u.revision;

-- unmark
UPDATE run SET state = 0, sends = run.sends - 1, mark_token = NULL, marked_at = NULL, boot_id = NULL, revision = NULL, journal_id = NULL, follow = run.follow & 32255, address = CASE u.keep WHEN 1 THEN run.address END FROM unnest(?::bigint[], ?::bigint[], ?::int[]) AS u(id, token, keep) WHERE run.id = u.id AND run.state + 0 = 1 AND run.mark_token = u.token;

-- cancel
UPDATE run SET state = 12, reason = ?, finished_at = ? WHERE run.id IN (SELECT unnest(?::bigint[])) AND run.state + 0 = 0;

-- accept
UPDATE run SET state = CASE WHEN run.state = 1 THEN 2 ELSE run.state END, sent_at = COALESCE(run.sent_at, u.sent_at), received_at = COALESCE(run.received_at, NULLIF(u.received_at, 0)) FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, sent_at, received_at) WHERE run.id = u.id;

-- settle_successes
UPDATE run SET state = u.state, result_code = NULLIF(u.code, -2147483648), result_msg = NULLIF(u.message, ''), reason = NULLIF(u.reason, ''), sent_at = COALESCE(run.sent_at, NULLIF(u.sent_at, 0)), received_at = COALESCE(run.received_at, NULLIF(u.received_at, 0)), finished_at = ? FROM unnest(?::bigint[], ?::smallint[], ?::int[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[]) AS u(id, state, code, message, reason, sent_at, received_at, app, boot_id) WHERE run.id = u.id AND run.state + 0 IN (1, 2) AND run.follow = 0 AND (NULLIF(u.app, 0) IS NULL OR (NULLIF(u.app, 0) IN (-1, run.app_id) AND (run.boot_id IS NULL OR run.boot_id = NULLIF(u.boot_id, ''))));

-- settle
UPDATE run SET state = u.state, result_code = NULLIF(u.code, -2147483648), result_msg = NULLIF(u.message, ''), reason = NULLIF(u.reason, ''), sent_at = COALESCE(run.sent_at, NULLIF(u.sent_at, 0)), received_at = COALESCE(run.received_at, NULLIF(u.received_at, 0)), finished_at = ? FROM unnest(?::bigint[], ?::smallint[], ?::int[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[]) AS u(id, state, code, message, reason, sent_at, received_at, app, boot_id) WHERE run.id = u.id AND run.state + 0 < 9;

-- lock_jobs
SELECT job.id, job.retries, job.enabled, job.retry_delay, job.shard, job.pause_after_failures FROM job WHERE job.id IN (SELECT unnest(?::bigint[])) ORDER BY job.id FOR UPDATE;

-- lock_runs
SELECT run.id, run.job_id, run.shard, run.cause, run.fire_no, run.part, run.attempt, run.state, run.kill_asked_at AS kill_asked, run.sends, run.follow, run.app_id, run.boot_id, run.journal_id, run.address, (SELECT job.app_id FROM job WHERE job.id = run.job_id) AS job_app_id FROM run WHERE run.id IN (SELECT unnest(?::bigint[])) ORDER BY run.id FOR UPDATE;

-- cancel_retries
UPDATE run SET state = 12, reason = 'late_result', finished_at = ? FROM unnest(?::bigint[], ?::bigint[], ?::smallint[], ?::int[], ?::int[]) AS u(fire_no, job_id, cause, part, attempt) WHERE run.fire_no = u.fire_no AND run.job_id = u.job_id AND run.cause = u.cause AND run.part = u.part AND run.attempt > u.attempt AND run.state + 0 = 0;

-- retry
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, run.part, run.parts, run.attempt + 1, run.scheduled_at, u.due_at, 0, 0, 0, run.follow & 32215 FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, old, due_at) JOIN run ON run.id = u.old WHERE NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = run.fire_no AND later.job_id = run.job_id AND later.cause = run.cause AND later.part = run.part AND later.attempt = run.attempt + 1);

-- retry_input
INSERT INTO run_input (run_id, params, address, is_of_part, repeats_saved, parts, part_params, traceparent, priority) SELECT u.id, i.params, i.address, i.is_of_part, i.repeats_saved, i.parts, i.part_params, i.traceparent, i.priority FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, old, due_at) JOIN run_input AS i ON i.run_id = u.old;

-- follow_ups
INSERT INTO follow_up (id, run_id, kind, job_id, at) SELECT u.id, u.run_id, u.kind, u.job_id, ? FROM unnest(?::bigint[], ?::bigint[], ?::smallint[], ?::bigint[]) AS u(id, run_id, kind, job_id) WHERE NOT EXISTS (SELECT 1 FROM follow_up AS made WHERE made.id = u.id);

-- active
SELECT run.address, COUNT(*) FROM run WHERE run.shard = ANY(?::bigint[]) AND run.state IN (1, 2) AND run.state < 9 AND run.address IS NOT NULL AND (run.follow & 32) = 0 GROUP BY run.address;

-- keep_sets
INSERT INTO candidate_set (id, addresses, used_at) SELECT u.id, u.addresses, ? FROM unnest(?::bigint[], ?::text[]) AS u(id, addresses) WHERE NOT EXISTS (SELECT 1 FROM candidate_set AS kept WHERE kept.id = u.id);

-- renew_sets
UPDATE candidate_set SET used_at = ? WHERE candidate_set.id IN (SELECT unnest(?::bigint[]));

-- add_traces
INSERT INTO run_choice (run_id, detail) SELECT u.id, u.detail FROM unnest(?::bigint[], ?::text[]) AS u(id, detail);

-- add_sticky
INSERT INTO sticky (job_id, address, chosen_at) SELECT u.id, u.address, ? FROM unnest(?::bigint[], ?::text[]) AS u(id, address);

-- lock_going
SELECT r.id, r.job_id, r.app_id, r.cause, r.fire_no, r.part, r.attempt, r.state, r.scheduled_at FROM run r WHERE r.id IN (SELECT unnest(?::bigint[])) AND (r.state >= 9 OR r.state IN (3, 4) AND COALESCE(r.finished_at, r.due_at) < ?) AND NOT EXISTS (SELECT 1 FROM run s WHERE s.fire_no = r.fire_no AND s.job_id = r.job_id AND s.cause = r.cause AND NOT (s.state >= 9 OR s.state IN (3, 4) AND COALESCE(s.finished_at, s.due_at) < ?)) AND NOT (r.state >= 9 AND EXISTS (SELECT 1 FROM report_open o WHERE o.run_id = r.id)) AND NOT EXISTS (SELECT 1 FROM run p JOIN run q ON q.fire_no = p.fire_no AND q.job_id = p.job_id AND q.cause = p.cause WHERE r.cause = 3 AND p.id = r.fire_no AND q.state < 9) AND NOT EXISTS (SELECT 1 FROM workflow_run w WHERE r.cause = 5 AND w.run_id = r.fire_no >> 10) ORDER BY r.id FOR UPDATE;

-- lock_pending
SELECT run.id, run.job_id, run.due_at FROM run WHERE run.id IN (SELECT unnest(?::bigint[])) AND run.state + 0 = 0 AND run.flagged_at IS NULL ORDER BY run.id FOR UPDATE;

-- flag
UPDATE run SET flagged_at = ? WHERE run.id IN (SELECT unnest(?::bigint[]));

-- note_overlap
UPDATE run SET reason = ? WHERE run.id IN (SELECT unnest(?::bigint[])) AND run.state + 0 = 0;

-- close_alarms
UPDATE alarm SET open_at = NULL, closed_at = ? WHERE alarm.run_id IN (SELECT unnest(?::bigint[])) AND alarm.open_at + 0 > 0;

-- escalate
UPDATE alarm SET level = 1, escalated_at = ? WHERE alarm.id IN (SELECT unnest(?::bigint[]));

-- clear_marks
UPDATE alarm SET unrouted_at = NULL WHERE alarm.id IN (SELECT unnest(?::bigint[])) AND alarm.unrouted_at + 0 > 0;

-- astray
SELECT run.id FROM run WHERE run.shard = ANY(?::bigint[]) AND run.state < 9 AND run.shard <> run.job_id % ? ORDER BY run.id LIMIT 1000;

-- delayed_cursors
SELECT c.delayed_job FROM unnest(?::bigint[]) AS u(id) JOIN job_clock AS c ON c.delayed_job = u.id AND c.delayed_job IS NOT NULL;

-- recorded
SELECT run.fire_no, run.job_id FROM unnest(?::bigint[], ?::bigint[]) AS u(at, job) JOIN run ON run.fire_no = u.at AND run.job_id = u.job AND run.cause = 0 AND run.part = 0 AND run.attempt = 1;

-- open_of_backfills
SELECT run.job_id, COUNT(*) FROM run WHERE run.shard = ANY(?::bigint[]) AND run.state IN (0, 1, 2) AND run.state < 9 AND run.cause = 4 GROUP BY run.job_id;

-- open_runs
SELECT run.state, COUNT(*) FROM run WHERE run.shard = ANY(?::bigint[]) AND run.state < 9 GROUP BY run.state;

-- grant_loops
UPDATE loop_lease SET epoch = u.epoch + 1, app_id = u.app_id, address = u.address, boot_id = u.boot_id, is_stopped = FALSE, counters = u.counters, report = '', reported_at = 0, granted_at = ?, expires_at = (extract(epoch FROM clock_timestamp())*1000)::bigint + ? FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[]) AS u(id, epoch, expires_at, app_id, address, boot_id, counters) WHERE loop_lease.job_id = u.id AND loop_lease.epoch = u.epoch AND loop_lease.expires_at = u.expires_at AND loop_lease.expires_at < (extract(epoch FROM clock_timestamp())*1000)::bigint AND loop_lease.is_wanted;

-- granted_loops
SELECT u.id FROM unnest(?::bigint[], ?::bigint[], ?::text[]) AS u(id, epoch, boot_id) JOIN loop_lease ON loop_lease.job_id = u.id WHERE loop_lease.epoch = u.epoch + 1 AND loop_lease.boot_id = u.boot_id AND loop_lease.is_stopped = FALSE;

-- renew_loops
UPDATE loop_lease SET report = u.report, reported_at = ?, expires_at = (extract(epoch FROM clock_timestamp())*1000)::bigint + ? FROM unnest(?::bigint[], ?::bigint[], ?::text[]) AS u(id, epoch, report) WHERE loop_lease.job_id = u.id AND loop_lease.epoch = u.epoch AND loop_lease.boot_id = ? AND loop_lease.app_id = ? AND loop_lease.is_stopped = FALSE AND loop_lease.expires_at > (extract(epoch FROM clock_timestamp())*1000)::bigint;

-- renewed_loops
SELECT u.id FROM unnest(?::bigint[], ?::bigint[]) AS u(id, epoch) JOIN loop_lease ON loop_lease.job_id = u.id WHERE loop_lease.epoch = u.epoch AND loop_lease.boot_id = ? AND loop_lease.app_id = ? AND loop_lease.is_stopped = FALSE AND loop_lease.expires_at > (extract(epoch FROM clock_timestamp())*1000)::bigint;

-- release_loops
UPDATE loop_lease SET report = u.report, reported_at = ?, expires_at = 0, is_stopped = TRUE FROM unnest(?::bigint[], ?::bigint[], ?::text[]) AS u(id, epoch, report) WHERE loop_lease.job_id = u.id AND loop_lease.epoch = u.epoch AND loop_lease.boot_id = ? AND loop_lease.app_id = ?;

-- free_loops
SELECT job_id FROM unnest(?::bigint[]) AS u(shard) JOIN loop_lease ON loop_lease.shard = u.shard WHERE loop_lease.expires_at < (extract(epoch FROM clock_timestamp())*1000)::bigint AND loop_lease.is_wanted ORDER BY job_id;

-- loop_ends
SELECT job_id, app_id, epoch, expires_at, is_wanted, boot_id, is_stopped FROM unnest(?::bigint[]) AS u(shard) JOIN loop_lease ON loop_lease.shard = u.shard WHERE loop_lease.is_wanted OR loop_lease.expires_at > 0 ORDER BY job_id;

-- watched_loops
SELECT job_id, is_wanted, is_stopped, expires_at, reported_at, alarmed_at, report FROM unnest(?::bigint[]) AS u(shard) JOIN loop_lease ON loop_lease.shard = u.shard WHERE loop_lease.is_wanted OR loop_lease.alarmed_at > 0 ORDER BY job_id;

-- MySql

-- due
SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND next_fire_at >= ? AND next_fire_at <= ? ORDER BY shard, next_fire_at, job_id LIMIT ?;

-- orphans
SELECT id FROM run FORCE INDEX (run_open) WHERE shard = ? AND state = 0 AND state < 9 AND epoch < ? AND due_at <= ? LIMIT ?;

-- new
SELECT id FROM run FORCE INDEX (run_open) WHERE shard = ? AND state = 0 AND state < 9 AND epoch = 0 AND due_at >= ? AND due_at <= ? LIMIT ?;

-- waiting
SELECT id FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?;

-- due_triggers
SELECT id, job_id, due_at, expires_at FROM delayed_trigger WHERE shard = ? AND due_at >= ? AND due_at <= ? ORDER BY shard, due_at, id LIMIT ?;

-- unanswered
SELECT t.id, t.address FROM (SELECT id, address, ROW_NUMBER() OVER (PARTITION BY address ORDER BY id) AS place FROM run WHERE shard = ? AND state = 1 AND state < 9 AND marked_at < ?) AS t WHERE t.place <= ? ORDER BY t.id LIMIT ?;

-- next_unanswered
SELECT MIN(marked_at) FROM run WHERE shard = ? AND state = 1 AND state < 9 AND marked_at >= ?;

-- prune
DELETE run FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run ON run.id = u.id;

-- free_slots
DELETE limit_slot FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN limit_slot ON limit_slot.run_id = u.id;

-- stale_slots
SELECT DISTINCT s.run_id FROM limit_slot AS s LEFT JOIN run ON run.id = s.run_id WHERE run.id IS NULL OR run.state NOT IN (1, 2) OR (run.follow & 32) <> 0 LIMIT ?;

-- pending
SELECT run.id, run.due_at, job.flag_after_seconds FROM run LEFT JOIN job ON job.id = run.job_id WHERE run.shard = ? AND run.state = 0 AND run.state < 9 AND run.epoch = ? AND run.due_at >= ? AND run.due_at <= ? AND run.flagged_at IS NULL AND (run.reason IS NULL OR run.reason <> 'overlap') AND run.due_at + CASE WHEN job.flag_after_seconds > 0 THEN job.flag_after_seconds * 1000 ELSE ? END <= ? ORDER BY run.due_at, run.id LIMIT 1000;

-- oldest_waiting
SELECT due_at FROM run WHERE shard = ? AND state = 0 AND state < 9 AND epoch = ? AND flagged_at IS NULL AND (reason IS NULL OR reason <> 'overlap') ORDER BY due_at LIMIT 1;

-- late_starts
SELECT late.run_id, late.job_id, late.due_at, late.start_within_seconds FROM (SELECT run.id AS run_id, run.job_id, run.due_at, job.start_within_seconds, ROW_NUMBER() OVER (PARTITION BY run.job_id ORDER BY run.due_at, run.id) AS place FROM run LEFT JOIN job ON job.id = run.job_id WHERE run.shard = ? AND run.state = 0 AND run.state < 9 AND run.epoch = ? AND run.due_at <= ? AND COALESCE(job.start_within_seconds, 0) > 0 AND run.due_at + COALESCE(job.start_within_seconds, 0) * 1000 < ?) AS late WHERE late.place = 1 ORDER BY late.due_at, late.run_id LIMIT 1000;

-- agreed
SELECT id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND kill_agreed_at < ? ORDER BY id LIMIT 500;

-- not_agreed
SELECT id FROM run WHERE shard = ? AND state = 2 AND state < 9 AND kill_asked_at < ? AND kill_agreed_at IS NULL ORDER BY id LIMIT 500;

-- long_running
SELECT id, job_id, epoch, due_at, COALESCE(sent_at, marked_at, due_at) AS sent_at, address, boot_id FROM run FORCE INDEX (run_open) WHERE shard = ? AND state = 2 AND state < 9 AND (epoch, due_at, id) > (?, ?, ?) AND (follow & 32) = 0 ORDER BY epoch, due_at, id LIMIT 500;

-- to_check
SELECT run.id AS run_id, run.job_id, app.name AS app, run.address, run.boot_id, run.due_at, COALESCE(run.sent_at, run.marked_at) AS sent_at, COALESCE(job.timeout_seconds, 0) AS timeout_seconds, e.expires_at, e.boot_id AS registered_boot, COALESCE(e.registered_at, 0) AS registered_at, run.follow, job.block, CASE WHEN job.updated_at > job.created_at THEN job.updated_at ELSE 0 END AS updated_at FROM run LEFT JOIN app ON app.id = run.app_id LEFT JOIN job ON job.id = run.job_id LEFT JOIN executor e ON e.app = app.name AND e.address = run.address WHERE run.id IN (SELECT u.id FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u) AND run.state = 2;

-- delayed_cursor
SELECT next_fire_at FROM job_clock WHERE delayed_job = ? AND delayed_job IS NOT NULL;

-- delayed_jobs
SELECT id, enabled, fires_left FROM job FORCE INDEX (job_kind) WHERE schedule_kind = 'fixed_delay' AND shard = ? AND id > ? ORDER BY shard, id LIMIT ?;

-- open_links
SELECT job_id FROM run FORCE INDEX (run_open) WHERE shard = ? AND state IN (0, 1, 2) AND state < 9 AND (follow & 1) <> 0;

-- forgotten_ends
SELECT DISTINCT f.run_id FROM follow_up AS f STRAIGHT_JOIN run ON run.id = f.run_id WHERE f.at < ? AND run.shard IN (SELECT u.id FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u) ORDER BY f.run_id LIMIT ?;

-- cursors
SELECT job_id, next_fire_at, revision FROM job_clock WHERE shard = ? AND (next_fire_at > ? OR next_fire_at = ? AND job_id > ?) ORDER BY shard, next_fire_at, job_id LIMIT ?;

-- scheduled
SELECT id, shard, revision FROM job FORCE INDEX (PRIMARY) WHERE id > ? AND enabled = TRUE AND durability = 'durable' AND schedule_kind NOT IN ('none', 'fixed_delay') ORDER BY id LIMIT ?;

-- old_alarms
SELECT id FROM alarm WHERE created_at < ? ORDER BY created_at LIMIT ?;

-- old_alerts
SELECT id FROM alert WHERE last_at < ? AND open_key IS NULL ORDER BY last_at LIMIT ?;

-- old_deliveries
SELECT id FROM alert_delivery WHERE created_at < ? AND next_at IS NULL ORDER BY created_at LIMIT ?;

-- old_audit
SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?;

-- old_keys
SELECT request_key FROM idempotency WHERE created_at < ? ORDER BY created_at LIMIT ?;

-- old_sessions
SELECT id_hash FROM session WHERE expires_at < ? ORDER BY expires_at LIMIT ?;

-- old_throttles
SELECT subject FROM login_throttle WHERE until_at < ? ORDER BY until_at LIMIT ?;

-- failing_too_often
SELECT f.job_id FROM job_failure f CROSS JOIN job j WHERE j.id = f.job_id AND j.pause_after_failures > 0 AND f.failures >= j.pause_after_failures AND j.enabled = TRUE ORDER BY f.job_id LIMIT ?;

-- summarize_passed
SELECT r.id, r.job_id, r.app_id, r.state, r.scheduled_at, r.due_at, r.sent_at, r.finished_at FROM run r WHERE r.id > ? AND r.id < ? ORDER BY r.id LIMIT ?;

-- summarize_ended
SELECT r.id, r.job_id, r.app_id, r.state, r.scheduled_at, r.due_at, r.sent_at, r.finished_at, o.is_doubtful FROM report_open o JOIN run r ON r.id = o.run_id WHERE o.run_id > ? ORDER BY o.run_id LIMIT ?;

-- to_scan
SELECT u.shard FROM JSON_TABLE(?, '$[*]' COLUMNS (shard BIGINT PATH '$')) AS u WHERE (SELECT c.next_fire_at FROM job_clock AS c FORCE INDEX (PRIMARY) WHERE c.shard = u.shard AND c.next_fire_at >= ? ORDER BY c.shard, c.next_fire_at LIMIT 1) <= ? OR (SELECT run.due_at FROM run FORCE INDEX (run_open) WHERE run.shard = u.shard AND run.state = 0 AND run.state < 9 AND run.epoch = 0 AND run.due_at >= ? ORDER BY run.due_at LIMIT 1) <= ? OR (SELECT d.due_at FROM delayed_trigger AS d FORCE INDEX (PRIMARY) WHERE d.shard = u.shard AND d.due_at >= ? ORDER BY d.shard, d.due_at LIMIT 1) <= ?;

-- overdue
SELECT u.shard FROM JSON_TABLE(?, '$[*]' COLUMNS (shard INT PATH '$[0]', epoch BIGINT PATH '$[1]', from_at BIGINT PATH '$[2]')) AS u WHERE (SELECT run.due_at FROM run FORCE INDEX (run_open) WHERE run.shard = u.shard AND run.state = 0 AND run.state < 9 AND run.epoch = u.epoch AND run.due_at >= u.from_at AND run.flagged_at IS NULL AND (run.reason IS NULL OR run.reason <> 'overlap') ORDER BY run.due_at LIMIT 1) <= ?;

-- advance
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (job_id BIGINT PATH '$[0]', old BIGINT PATH '$[1]', next BIGINT PATH '$[2]', revision BIGINT PATH '$[3]', shard INT PATH '$[4]')) AS u STRAIGHT_JOIN job_clock FORCE INDEX (PRIMARY) ON job_clock.shard = u.shard AND job_clock.next_fire_at = u.old AND job_clock.job_id = u.job_id SET job_clock.next_fire_at = u.next WHERE job_clock.revision = u.revision;

-- unchanged
SELECT c.job_id FROM JSON_TABLE(?, '$[*]' COLUMNS (job_id BIGINT PATH '$[0]', old BIGINT PATH '$[1]', next BIGINT PATH '$[2]', revision BIGINT PATH '$[3]', shard INT PATH '$[4]')) AS u STRAIGHT_JOIN job_clock AS c FORCE INDEX (PRIMARY) ON c.shard = u.shard AND c.next_fire_at = u.old AND c.job_id = u.job_id AND c.revision = u.revision;

-- record
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, follow) SELECT u.id, j.id, j.app_id, j.shard, 0, u.at, 0, 1, 1, u.at, u.at, 0, ?, ?, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' THEN 1 ELSE 0 END FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', job_id BIGINT PATH '$[1]', at BIGINT PATH '$[2]')) AS u STRAIGHT_JOIN job AS j FORCE INDEX (PRIMARY) ON j.id = u.job_id;

-- new_runs
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.id, j.id, j.app_id, j.shard, u.cause, u.fire_no, 0, 1, 1, u.scheduled_at, u.due_at, 0, 0, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' AND u.cause = 0 THEN 1 ELSE 0 END + CASE WHEN u.cause = 5 THEN 4 ELSE 0 END FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', job_id BIGINT PATH '$[1]', cause SMALLINT PATH '$[2]', fire_no BIGINT PATH '$[3]', scheduled_at BIGINT PATH '$[4]', due_at BIGINT PATH '$[5]')) AS u STRAIGHT_JOIN job AS j FORCE INDEX (PRIMARY) ON j.id = u.job_id;

-- new_children
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.id, j.id, j.app_id, j.shard, u.cause, u.fire_no, 0, 1, 1, u.scheduled_at, u.due_at, 0, 0, 0, j.follow + CASE WHEN j.schedule_kind = 'fixed_delay' AND u.cause = 0 THEN 1 ELSE 0 END + CASE WHEN u.cause = 5 THEN 4 ELSE 0 END FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', job_id BIGINT PATH '$[1]', cause SMALLINT PATH '$[2]', fire_no BIGINT PATH '$[3]', scheduled_at BIGINT PATH '$[4]', due_at BIGINT PATH '$[5]')) AS u STRAIGHT_JOIN job AS j FORCE INDEX (PRIMARY) ON j.id = u.job_id WHERE NOT EXISTS (SELECT 1 FROM run AS made WHERE made.fire_no = u.fire_no AND made.job_id = u.job_id AND made.cause = u.cause);

-- adopt
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.epoch = ?, run.owner = ? WHERE run.shard = ? AND run.state = 0 AND run.epoch < ?;

-- insert_delayed
INSERT INTO delayed_trigger (shard, due_at, id, job_id, expires_at, created_at) SELECT ?, u.due_at, u.id, ?, u.expires_at, ? FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', due_at BIGINT PATH '$[1]', expires_at BIGINT PATH '$[2]')) AS u;

-- insert_released
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, follow) SELECT u.run_id, j.id, j.app_id, d.shard, 7, d.id, 0, 1, 1, u.scheduled_at, u.due_at, 0, ?, ?, 0, j.follow FROM JSON_TABLE(?, '$[*]' COLUMNS (run_id BIGINT PATH '$[0]', id BIGINT PATH '$[1]', place BIGINT PATH '$[2]', scheduled_at BIGINT PATH '$[3]', due_at BIGINT PATH '$[4]', expires_at BIGINT PATH '$[5]')) AS u STRAIGHT_JOIN delayed_trigger AS d FORCE INDEX (PRIMARY) ON d.shard = ? AND d.due_at = u.place AND d.id = u.id STRAIGHT_JOIN job AS j FORCE INDEX (PRIMARY) ON j.id = d.job_id;

-- move_input
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (run_id BIGINT PATH '$[0]', id BIGINT PATH '$[1]', place BIGINT PATH '$[2]', scheduled_at BIGINT PATH '$[3]', due_at BIGINT PATH '$[4]', expires_at BIGINT PATH '$[5]')) AS u STRAIGHT_JOIN run_input FORCE INDEX (PRIMARY) ON run_input.run_id = u.id SET run_input.run_id = u.run_id, run_input.expires_at = NULLIF(u.expires_at, 0);

-- mark
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', epoch BIGINT PATH '$[1]', address VARCHAR(255) PATH '$[2]', boot_id VARCHAR(64) PATH '$[3]', candidates_id BIGINT PATH '$[4]', route_code SMALLINT PATH '$[5]', revision BIGINT PATH '$[6]', app_id BIGINT PATH '$[7]', journal_id VARCHAR(64) PATH '$[8]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.state = 1, run.mark_token = ?, run.marked_at = ?, run.owner = ?, run.sends = run.sends + 1, run.address = u.address, run.boot_id = u.boot_id, run.candidates_id = u.candidates_id, run.route_code = u.route_code, run.revision = u.revision, run.app_id = u.app_id, run.journal_id = u.journal_id WHERE run.state = 0 AND run.epoch = u.epoch;

-- mark_limited
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', epoch BIGINT PATH '$[1]', address VARCHAR(255) PATH '$[2]', boot_id VARCHAR(64) PATH '$[3]', candidates_id BIGINT PATH '$[4]', route_code SMALLINT PATH '$[5]', revision BIGINT PATH '$[6]', app_id BIGINT PATH '$[7]', journal_id VARCHAR(64) PATH '$[8]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.state = 1, run.mark_token = ?, run.marked_at = ?, run.owner = ?, run.sends = run.sends + 1, run.address = u.address, run.boot_id = u.boot_id, run.candidates_id = u.candidates_id, run.route_code = u.route_code, run.revision = u.revision, run.app_id = u.app_id, run.journal_id = u.journal_id, run.reason = NULL, run.follow = run.follow | 512 WHERE run.state = 0 AND run.epoch = u.epoch;

-- lock_limits
SELECT limit_rule.id, limit_rule.max_runs FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN limit_rule FORCE INDEX (PRIMARY) ON limit_rule.id = u.id ORDER BY limit_rule.id FOR UPDATE;

-- taken_slots
SELECT s.limit_id, s.slot_key, s.slot FROM JSON_TABLE(?, '$[*]' COLUMNS (limit_id BIGINT PATH '$[0]', slot_key BIGINT PATH '$[1]')) AS u STRAIGHT_JOIN limit_slot AS s FORCE INDEX (PRIMARY) ON s.limit_id = u.limit_id AND s.slot_key = u.slot_key;

-- count_taken_slots
SELECT s.limit_id, s.slot_key, COUNT(*) FROM JSON_TABLE(?, '$[*]' COLUMNS (limit_id BIGINT PATH '$[0]', slot_key BIGINT PATH '$[1]')) AS u STRAIGHT_JOIN limit_slot AS s FORCE INDEX (PRIMARY) ON s.limit_id = u.limit_id AND s.slot_key = u.slot_key GROUP BY s.limit_id, s.slot_key;

-- add_parts
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, address, follow) SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, u.part, run.parts, run.attempt, run.scheduled_at, run.due_at, 0, run.epoch, ?, 0, NULLIF(u.address, ''), run.follow FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', part INT PATH '$[1]', address VARCHAR(255) PATH '$[2]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = ?;

-- outdated
SELECT u.id, u.revision FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', revision BIGINT PATH '$[1]')) AS u LEFT JOIN job ON job.id = u.id WHERE job.revision IS NULL OR job.revision <> u.revision;

-- unmark
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', token BIGINT PATH '$[1]', keep INT PATH '$[2]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.state = 0, run.sends = run.sends - 1, run.mark_token = NULL, run.marked_at = NULL, run.boot_id = NULL, run.revision = NULL, run.journal_id = NULL, run.follow = run.follow & 32255, run.address = CASE u.keep WHEN 1 THEN run.address END WHERE run.state = 1 AND run.mark_token = u.token;

-- cancel
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.state = 12, run.reason = ?, run.finished_at = ? WHERE run.state = 0;

-- accept
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', sent_at BIGINT PATH '$[1]', received_at BIGINT PATH '$[2]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.state = CASE WHEN run.state = 1 THEN 2 ELSE run.state END, run.sent_at = COALESCE(run.sent_at, u.sent_at), run.received_at = COALESCE(run.received_at, u.received_at);

-- settle_successes
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', state SMALLINT PATH '$[1]', code INT PATH '$[2]', message MEDIUMTEXT PATH '$[3]', reason VARCHAR(64) PATH '$[4]', sent_at BIGINT PATH '$[5]', received_at BIGINT PATH '$[6]', app BIGINT PATH '$[7]', boot_id VARCHAR(64) PATH '$[8]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.state = u.state, run.result_code = u.code, run.result_msg = u.message, run.reason = u.reason, run.sent_at = COALESCE(run.sent_at, u.sent_at), run.received_at = COALESCE(run.received_at, u.received_at), run.finished_at = ? WHERE run.state IN (1, 2) AND run.follow = 0 AND (u.app IS NULL OR (u.app IN (-1, run.app_id) AND (run.boot_id IS NULL OR run.boot_id = u.boot_id)));

-- settle
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', state SMALLINT PATH '$[1]', code INT PATH '$[2]', message MEDIUMTEXT PATH '$[3]', reason VARCHAR(64) PATH '$[4]', sent_at BIGINT PATH '$[5]', received_at BIGINT PATH '$[6]', app BIGINT PATH '$[7]', boot_id VARCHAR(64) PATH '$[8]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.state = u.state, run.result_code = u.code, run.result_msg = u.message, run.reason = u.reason, run.sent_at = COALESCE(run.sent_at, u.sent_at), run.received_at = COALESCE(run.received_at, u.received_at), run.finished_at = ? WHERE run.state < 9;

-- lock_jobs
SELECT job.id, job.retries, job.enabled, job.retry_delay, job.shard, job.pause_after_failures FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN job FORCE INDEX (PRIMARY) ON job.id = u.id ORDER BY job.id FOR UPDATE;

-- lock_runs
SELECT run.id, run.job_id, run.shard, run.cause, run.fire_no, run.part, run.attempt, run.state, run.kill_asked_at AS kill_asked, run.sends, run.follow, run.app_id, run.boot_id, run.journal_id, run.address, (SELECT job.app_id FROM job WHERE job.id = run.job_id) AS job_app_id FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id ORDER BY run.id FOR UPDATE;

-- cancel_retries
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (fire_no BIGINT PATH '$[0]', job_id BIGINT PATH '$[1]', cause SMALLINT PATH '$[2]', part INT PATH '$[3]', attempt INT PATH '$[4]')) AS u STRAIGHT_JOIN run FORCE INDEX (run_fire) ON run.fire_no = u.fire_no AND run.job_id = u.job_id AND run.cause = u.cause AND run.part = u.part AND run.attempt > u.attempt SET run.state = 12, run.reason = 'late_result', run.finished_at = ? WHERE run.state = 0;

-- retry
INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, run.part, run.parts, run.attempt + 1, run.scheduled_at, u.due_at, 0, 0, 0, run.follow & 32215 FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', old BIGINT PATH '$[1]', due_at BIGINT PATH '$[2]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.old WHERE NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = run.fire_no AND later.job_id = run.job_id AND later.cause = run.cause AND later.part = run.part AND later.attempt = run.attempt + 1);

-- retry_input
INSERT INTO run_input (run_id, params, address, is_of_part, repeats_saved, parts, part_params, traceparent, priority) SELECT u.id, i.params, i.address, i.is_of_part, i.repeats_saved, i.parts, i.part_params, i.traceparent, i.priority FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', old BIGINT PATH '$[1]', due_at BIGINT PATH '$[2]')) AS u STRAIGHT_JOIN run_input AS i FORCE INDEX (PRIMARY) ON i.run_id = u.old;

-- follow_ups
INSERT INTO follow_up (id, run_id, kind, job_id, at) SELECT u.id, u.run_id, u.kind, u.job_id, ? FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', run_id BIGINT PATH '$[1]', kind SMALLINT PATH '$[2]', job_id BIGINT PATH '$[3]')) AS u WHERE NOT EXISTS (SELECT 1 FROM follow_up AS made WHERE made.id = u.id);

-- active
SELECT run.address, COUNT(*) FROM JSON_TABLE(?, '$[*]' COLUMNS (shard BIGINT PATH '$')) AS u STRAIGHT_JOIN JSON_TABLE('[1, 2]', '$[*]' COLUMNS (state SMALLINT PATH '$')) AS s STRAIGHT_JOIN run FORCE INDEX (run_open) ON run.shard = u.shard AND run.state = s.state WHERE run.address IS NOT NULL AND (run.follow & 32) = 0 GROUP BY run.address;

-- keep_sets
INSERT INTO candidate_set (id, addresses, used_at) SELECT u.id, u.addresses, ? FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', addresses MEDIUMTEXT PATH '$[1]')) AS u WHERE NOT EXISTS (SELECT 1 FROM candidate_set AS kept WHERE kept.id = u.id);

-- renew_sets
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN candidate_set FORCE INDEX (PRIMARY) ON candidate_set.id = u.id SET candidate_set.used_at = ?;

-- add_traces
INSERT INTO run_choice (run_id, detail) SELECT u.id, u.detail FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', detail MEDIUMTEXT PATH '$[1]')) AS u;

-- add_sticky
INSERT INTO sticky (job_id, address, chosen_at) SELECT u.id, u.address, ? FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', address VARCHAR(255) PATH '$[1]')) AS u;

-- lock_going
SELECT r.id, r.job_id, r.app_id, r.cause, r.fire_no, r.part, r.attempt, r.state, r.scheduled_at FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run r FORCE INDEX (PRIMARY) ON r.id = u.id WHERE (r.state >= 9 OR r.state IN (3, 4) AND COALESCE(r.finished_at, r.due_at) < ?) AND NOT EXISTS (SELECT 1 FROM run s WHERE s.fire_no = r.fire_no AND s.job_id = r.job_id AND s.cause = r.cause AND NOT (s.state >= 9 OR s.state IN (3, 4) AND COALESCE(s.finished_at, s.due_at) < ?)) AND NOT (r.state >= 9 AND EXISTS (SELECT 1 FROM report_open o WHERE o.run_id = r.id)) AND NOT EXISTS (SELECT 1 FROM run p JOIN run q ON q.fire_no = p.fire_no AND q.job_id = p.job_id AND q.cause = p.cause WHERE r.cause = 3 AND p.id = r.fire_no AND q.state < 9) AND NOT EXISTS (SELECT 1 FROM workflow_run w WHERE r.cause = 5 AND w.run_id = r.fire_no >> 10) ORDER BY r.id FOR UPDATE;

-- lock_pending
SELECT run.id, run.job_id, run.due_at FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id WHERE run.state = 0 AND run.flagged_at IS NULL ORDER BY run.id FOR UPDATE;

-- flag
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.flagged_at = ?;

-- note_overlap
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.reason = ? WHERE run.state = 0;

-- close_alarms
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (run_id BIGINT PATH '$')) AS u STRAIGHT_JOIN alarm FORCE INDEX (alarm_run) ON alarm.run_id = u.run_id SET alarm.open_at = NULL, alarm.closed_at = ? WHERE alarm.open_at > 0;

-- escalate
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN alarm FORCE INDEX (PRIMARY) ON alarm.id = u.id SET alarm.level = 1, alarm.escalated_at = ?;

-- clear_marks
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN alarm FORCE INDEX (PRIMARY) ON alarm.id = u.id SET alarm.unrouted_at = NULL WHERE alarm.unrouted_at > 0;

-- astray
SELECT run.id FROM JSON_TABLE(?, '$[*]' COLUMNS (shard BIGINT PATH '$')) AS u STRAIGHT_JOIN JSON_TABLE('[0, 1, 2, 3, 4]', '$[*]' COLUMNS (state SMALLINT PATH '$')) AS s STRAIGHT_JOIN run FORCE INDEX (run_open) ON run.shard = u.shard AND run.state = s.state WHERE run.shard <> run.job_id % ? ORDER BY run.id LIMIT 1000;

-- delayed_cursors
SELECT c.delayed_job FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN job_clock AS c FORCE INDEX (job_clock_delayed) ON c.delayed_job = u.id AND c.delayed_job IS NOT NULL;

-- recorded
SELECT run.fire_no, run.job_id FROM JSON_TABLE(?, '$[*]' COLUMNS (at BIGINT PATH '$[0]', job BIGINT PATH '$[1]')) AS u STRAIGHT_JOIN run FORCE INDEX (run_fire) ON run.fire_no = u.at AND run.job_id = u.job AND run.cause = 0 AND run.part = 0 AND run.attempt = 1;

-- open_of_backfills
SELECT run.job_id, COUNT(*) FROM JSON_TABLE(?, '$[*]' COLUMNS (shard BIGINT PATH '$')) AS u STRAIGHT_JOIN JSON_TABLE('[0, 1, 2]', '$[*]' COLUMNS (state SMALLINT PATH '$')) AS s STRAIGHT_JOIN run FORCE INDEX (run_open) ON run.shard = u.shard AND run.state = s.state WHERE run.cause = 4 GROUP BY run.job_id;

-- open_runs
SELECT run.state, COUNT(*) FROM JSON_TABLE(?, '$[*]' COLUMNS (shard BIGINT PATH '$')) AS u STRAIGHT_JOIN JSON_TABLE('[0, 1, 2, 3, 4]', '$[*]' COLUMNS (state SMALLINT PATH '$')) AS s STRAIGHT_JOIN run FORCE INDEX (run_open) ON run.shard = u.shard AND run.state = s.state GROUP BY run.state;

-- grant_loops
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', epoch BIGINT PATH '$[1]', expires_at BIGINT PATH '$[2]', app_id BIGINT PATH '$[3]', address VARCHAR(255) PATH '$[4]', boot_id VARCHAR(64) PATH '$[5]', counters MEDIUMTEXT PATH '$[6]')) AS u STRAIGHT_JOIN loop_lease FORCE INDEX (PRIMARY) ON loop_lease.job_id = u.id SET loop_lease.epoch = u.epoch + 1, loop_lease.app_id = u.app_id, loop_lease.address = u.address, loop_lease.boot_id = u.boot_id, loop_lease.is_stopped = FALSE, loop_lease.counters = u.counters, loop_lease.report = '', loop_lease.reported_at = 0, loop_lease.granted_at = ?, loop_lease.expires_at = CAST(UNIX_TIMESTAMP(SYSDATE(3))*1000 AS SIGNED) + ? WHERE loop_lease.epoch = u.epoch AND loop_lease.expires_at = u.expires_at AND loop_lease.expires_at < CAST(UNIX_TIMESTAMP(SYSDATE(3))*1000 AS SIGNED) AND loop_lease.is_wanted;

-- granted_loops
SELECT u.id FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', epoch BIGINT PATH '$[1]', boot_id VARCHAR(64) PATH '$[2]')) AS u STRAIGHT_JOIN loop_lease ON loop_lease.job_id = u.id WHERE loop_lease.epoch = u.epoch + 1 AND loop_lease.boot_id = u.boot_id AND loop_lease.is_stopped = FALSE;

-- renew_loops
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', epoch BIGINT PATH '$[1]', report MEDIUMTEXT PATH '$[2]')) AS u STRAIGHT_JOIN loop_lease FORCE INDEX (PRIMARY) ON loop_lease.job_id = u.id SET loop_lease.report = u.report, loop_lease.reported_at = ?, loop_lease.expires_at = CAST(UNIX_TIMESTAMP(SYSDATE(3))*1000 AS SIGNED) + ? WHERE loop_lease.epoch = u.epoch AND loop_lease.boot_id = ? AND loop_lease.app_id = ? AND loop_lease.is_stopped = FALSE AND loop_lease.expires_at > CAST(UNIX_TIMESTAMP(SYSDATE(3))*1000 AS SIGNED);

-- renewed_loops
SELECT u.id FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', epoch BIGINT PATH '$[1]')) AS u STRAIGHT_JOIN loop_lease ON loop_lease.job_id = u.id WHERE loop_lease.epoch = u.epoch AND loop_lease.boot_id = ? AND loop_lease.app_id = ? AND loop_lease.is_stopped = FALSE AND loop_lease.expires_at > CAST(UNIX_TIMESTAMP(SYSDATE(3))*1000 AS SIGNED);

-- release_loops
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', epoch BIGINT PATH '$[1]', report MEDIUMTEXT PATH '$[2]')) AS u STRAIGHT_JOIN loop_lease FORCE INDEX (PRIMARY) ON loop_lease.job_id = u.id SET loop_lease.report = u.report, loop_lease.reported_at = ?, loop_lease.expires_at = 0, loop_lease.is_stopped = TRUE WHERE loop_lease.epoch = u.epoch AND loop_lease.boot_id = ? AND loop_lease.app_id = ?;

-- free_loops
SELECT job_id FROM JSON_TABLE(?, '$[*]' COLUMNS (shard BIGINT PATH '$')) AS u STRAIGHT_JOIN loop_lease FORCE INDEX (loop_lease_shard) ON loop_lease.shard = u.shard WHERE loop_lease.expires_at < CAST(UNIX_TIMESTAMP(SYSDATE(3))*1000 AS SIGNED) AND loop_lease.is_wanted ORDER BY job_id;

-- loop_ends
SELECT job_id, app_id, epoch, expires_at, is_wanted, boot_id, is_stopped FROM JSON_TABLE(?, '$[*]' COLUMNS (shard BIGINT PATH '$')) AS u STRAIGHT_JOIN loop_lease FORCE INDEX (loop_lease_shard) ON loop_lease.shard = u.shard WHERE loop_lease.is_wanted OR loop_lease.expires_at > 0 ORDER BY job_id;

-- watched_loops
SELECT job_id, is_wanted, is_stopped, expires_at, reported_at, alarmed_at, report FROM JSON_TABLE(?, '$[*]' COLUMNS (shard BIGINT PATH '$')) AS u STRAIGHT_JOIN loop_lease FORCE INDEX (loop_lease_shard) ON loop_lease.shard = u.shard WHERE loop_lease.is_wanted OR loop_lease.alarmed_at > 0 ORDER BY job_id;

