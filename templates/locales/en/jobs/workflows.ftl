# Workflows: their nodes, the picture, and what people decide about them.
workflow = Workflow
node = Node
workflow-nodes = Nodes
workflow-picture = Picture of the workflow
workflow-picture-of = { $count ->
    [one] Picture of a workflow with one node. The table below has the same content.
   *[other] Picture of a workflow with { $count } nodes. The table below has the same content.
}
workflow-legend = Lines of the picture
edge-success = on success
edge-failure = on failure
edge-always = on any end
edge-tests = Text at a line: the condition on the result of the node before it
edges-with-tests = { $count ->
    [one] one condition
   *[other] { $count } conditions
}
workflow-too-large = A workflow with more than 200 nodes has no picture.
workflow-nodes-count = { $count ->
    [one] { $count } node
   *[other] { $count } nodes
}
workflow-output = Its result:
workflow-uses = Node of
node-after = After
node-attempts = Attempts
node-parts = { $done } of { $all } parts succeeded
node-items = { $done } of { $all } items succeeded
node-if-failed = If it fails
node-starts-at-once = starts at once
node-for-each = For each of
node-params-of-job = of its job, or the result of the node before it
node-kept = from an earlier run
node-state-count = { $count } { $state }
if-failed-fail = the workflow fails
if-failed-ignore = it counts as succeeded
if-failed-stop = the workflow fails, and nothing new starts on success
after-any-of = any of: { $edges }
after-on-failure = { $node } (on failure)
after-on-any-end = { $node } (on any end)
after-if = { $edge } if { $tests }
tests-and = { $first } and { $second }
the-result = the result
test-exists = { $path } exists
test-is-missing = { $path } is missing
test-in = { $path } is one of { $values }
job-as-named = { $name }
# States of nodes.
node-waiting = waiting
node-waiting-hint = A node before it has not ended.
node-held = held
node-held-hint = It could start, but the workflow is held.
node-running = running
node-running-hint = Its run has not ended.
node-succeeded = succeeded
node-succeeded-hint = By its run, or because a person said so.
node-failed = failed
node-failed-hint = By its run, because a person said so, or because its parameters are too large.
node-skipped = skipped
node-skipped-hint = Its branch was not taken, or a person skipped it.
node-not-run = not run
node-not-run-hint = A node before it failed.
node-cancelled = cancelled
node-cancelled-hint = It had not started when the workflow was killed or its time was over.
# The page of a run.
workflow-no-executor = none: its nodes have executors
workflow-no-log = A workflow has no log. The runs of its nodes have them.
workflow-prior = Goes on from run
workflow-step-begun = Begun
workflow-params-own = the job's own, as they were when the run began
node-of-run = Node of run
workflow-held-by = Held by { $author } since { $at }: nothing new starts, what runs goes on.
workflow-hold = Hold
workflow-hold-ask = Hold run { $id }?
workflow-hold-text = No further node starts until a person releases the run. What runs goes on.
workflow-hold-button = Hold the run
workflow-hold-done = The run is held.
workflow-release = Release
workflow-release-ask = Release run { $id }?
workflow-release-text = The nodes that could start do so at once.
workflow-release-button = Release the run
workflow-release-done = The run is released.
workflow-kill-text = Nodes that wait do not start. The runs of nodes that are on their way are ended as any other run, also within workflows among the nodes. The run ends as killed when all of them have ended.
workflow-not-begun = The run is of no workflow, or has not begun.
workflow-has-ended = The run has ended. What failed can be run again.
workflow-goes-on = The run has not ended. A node that failed can be tried again.
workflow-is-gone = The job of the run is deleted, or is no workflow any more.
# Decisions about a node.
node-decision = { $decision }: { $node }
node-is-by-now = The node { $node } is in another state by now: { $state }.
not-decided = Nothing was changed: { $why }.
node-retry = Retry
node-retry-ask = Retry node { $node } of run { $id }?
node-retry-text = Its run gets another attempt with the same parameters. The nodes behind it wait for it again.
node-retry-button = Retry the node
node-retry-done = The node { $node } is tried again.
node-skip = Skip
node-skip-ask = Skip node { $node } of run { $id }?
node-skip-text = The node does not run. The nodes behind it are reached by their other edges, or skipped too.
node-skip-button = Skip the node
node-skip-done = The node { $node } is skipped.
node-succeed = Mark succeeded
node-succeed-ask = Mark node { $node } of run { $id } as succeeded?
node-succeed-text = The workflow goes on as if the node had succeeded with this result. A run that the node has had stays as it is.
node-succeed-button = Mark as succeeded
node-succeed-done = The node { $node } counts as succeeded.
node-result = Result that it hands on
node-result-hint = Any text up to 64 KiB. Conditions and templates of the nodes behind it read it.
node-fail = Mark failed
node-fail-ask = Mark node { $node } of run { $id } as failed?
node-fail-text = The node does not run. The workflow goes on as if it had failed.
node-fail-button = Mark as failed
node-fail-done = The node { $node } counts as failed.
# The repetition of a run.
workflow-rerun-named = Run { $id } again
workflow-rerun-text = The new run is the next attempt of the same fire and has the present definition of the job. Nodes that are kept hand on the results that they had.
workflow-rerun-from = What runs again
workflow-rerun-again = Run again from a node…
workflow-again = Again:
workflow-again-none = No node failed.
workflow-derived = Skipped before, decided again by what comes before:
workflow-kept = Kept:
workflow-from-node = From a node on
workflow-from-node-hint = This node and all behind it, with what failed.
workflow-from-all = Everything
workflow-from-all-hint = All nodes, from the beginning.
workflow-rerun-done = This run goes on from run { $id }.
not-repeated = Nothing runs again: { $why }.
# The form of a job.
job-runs-workflow = A workflow
workflow-source = Nodes
workflow-source-hint = <code>YAML</code>. A node has a <code>job</code> (its id, its key, or <code>app/key</code>), and may have <code>after</code>, <code>params</code> or <code>for_each</code>, <code>join</code> and <code>if_failed</code>; an edge may have <code>on</code> and <code>when</code>.
workflow-example = An example
workflow-draw = Check and draw
workflow-drawn = What is written above
workflow-not-drawn = There is a picture as soon as the nodes can be read.
node-add = Add a node
node-add-name = Name of a node
member-workflow-node = Node { $node }
member-workflow-result = Result of the workflow
member-decision = Decision
node-part = { $label }: { $text }
