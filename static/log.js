// The log of a run: follows it while it goes on, until the reader scrolls up; finds text and errors, marks lines.
// It comes after console.js and uses its names.
"use strict";

const log = document.getElementById("log");
const more = document.getElementById("log-more");
const note = document.getElementById("log-note");
const tool = (name) => document.getElementById(`log-${name}`);
// Lines that the page holds at most: with many more a browser is slow.
const MOST = 50000;
let first = Number(log.dataset.first); // number of the first line that the page holds
let next = Number(log.dataset.next);
let ended = log.dataset.end === "true"; // nothing more will come
let behind = log.dataset.cut === "true"; // there are lines that the page has not fetched yet
let misses = 0;
let following = true;
let lastTop = 0; // where it stood when we last looked

// ---- following ------------------------------------------------------------------------------------------------------
const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 24;
const toEnd = () => { following = true; log.scrollTop = log.scrollHeight; lastTop = log.scrollTop; more.hidden = true; };
const look = () => {
  if (atEnd()) { following = true; more.hidden = true; } else if (log.scrollTop < lastTop) following = false;
  lastTop = log.scrollTop;
};
// A chunk gets its true height when it comes into view, and the end moves.
const sizes = new ResizeObserver(() => { look(); if (following) toEnd(); });

const lineOf = (number, { parts, is_error: isError }) => {
  const row = document.createElement("div");
  row.className = "log-line";
  row.id = `L${number}`;
  if (isError) row.dataset.error = "";
  const link = document.createElement("a");
  link.href = `#L${number}`;
  link.textContent = number;
  const text = document.createElement("span");
  for (const part of parts) {
    const piece = part.class ? document.createElement("span") : document.createTextNode(part.text);
    if (part.class) { piece.className = part.class; piece.textContent = part.text; }
    text.append(piece);
  }
  row.append(link, text);
  return row;
};

// Only while the reader is at the end or waits for a line further on: nothing vanishes that is being read.
const makeRoom = () => {
  while (next - first > MOST && log.childElementCount > 1) {
    const chunk = log.firstElementChild;
    sizes.unobserve(chunk);
    first += chunk.childElementCount;
    chunk.remove();
  }
  tool("first").hidden = first <= 1;
};

const append = (from, lines) => {
  look();
  const chunk = document.createElement("div");
  chunk.className = lines.length > 99 ? "log-chunk long" : "log-chunk";
  lines.forEach((line, index) => { if (from + index >= next) chunk.append(lineOf(from + index, line)); });
  next = Math.max(next, from + lines.length);
  log.append(chunk);
  sizes.observe(chunk);
  if (following || isAwaited()) makeRoom();
  mark();
  if (following) toEnd(); else more.hidden = atEnd();
  missing?.();
};

// How far a long log was fetched, while more of it is there.
const sayLoaded = () => {
  const count = (number) => number.toLocaleString(page.lang);
  const total = Math.max(Number(log.dataset.total ?? 0), next - 1);
  const key = log.dataset.total ? "log-loaded-of" : "log-loaded";
  tool("loaded").textContent = behind && !ended && next > first ? text(key, { to: count(next - 1), all: count(total) }) : "";
};

const follow = async () => {
  let wait = 1000;
  const isFull = next - first >= MOST && !following && !isAwaited();
  if (isFull) more.hidden = false;
  if (!document.hidden && !paused && !isFull) {
    try {
      const answer = await fetch(`${log.dataset.address}?from=${next}`, { headers: { "X-Carillon-Live": "1" }, cache: "no-store" });
      if (answer.redirected) return;
      const part = await answer.json();
      if (part.lines.length) { append(part.from, part.lines); next = Math.max(next, part.next); misses = 0; wait = 100; } else misses += 1;
      behind = behind && part.lines.length > 0;
      note.textContent = part.note;
      note.hidden = part.note === "";
      if (part.end) { ended = true; behind = false; missing?.(); sayLoaded(); return; }
      sayLoaded();
    } catch { misses += 1; }
    if (wait > 100 && misses > 10) wait = 5000;
  }
  setTimeout(follow, wait);
};

// ---- lines and ranges of the address: #L120, #L120-L130 -------------------------------------------------------------
const show = (row) => { following = false; row.scrollIntoView({ block: "center" }); lastTop = log.scrollTop; };
const range = () => {
  const found = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash);
  if (!found) return null;
  const ends = [Number(found[1]), Number(found[2] ?? found[1])];
  return { first: Math.min(...ends), last: Math.max(...ends) };
};
let shown = ""; // the address whose line was scrolled to
// Whether the address names a line that the page does not hold yet.
const isAwaited = () => shown !== location.hash && (range()?.first ?? 0) >= next;
function mark() {
  for (const row of all("[data-marked]", log)) row.removeAttribute("data-marked");
  const lines = range();
  tool("link").hidden = !lines || !navigator.clipboard;
  if (!lines) return;
  if (shown !== location.hash) following = false;
  // A line before those of the page: the server has it.
  if (shown !== location.hash && lines.first > 0 && lines.first < first) { location.search = `?line=${lines.first}`; return; }
  for (let number = Math.max(lines.first, first); number <= Math.min(lines.last, next - 1); number += 1) {
    document.getElementById(`L${number}`)?.setAttribute("data-marked", "");
  }
  const row = document.getElementById(`L${lines.first}`);
  if (row && shown !== location.hash) { shown = location.hash; show(row); }
}
log.addEventListener("click", (event) => {
  const number = Number(event.target.closest?.(".log-line > a")?.textContent);
  const before = range();
  if (!number || !event.shiftKey || !before) return;
  event.preventDefault();
  const [start, end] = [Math.min(before.first, number), Math.max(before.first, number)];
  history.replaceState(null, "", start === end ? `#L${start}` : `#L${start}-L${end}`);
  shown = location.hash;
  following = false;
  mark();
});
window.addEventListener("hashchange", mark);
tool("link").addEventListener("click", async () => {
  await navigator.clipboard.writeText(location.href);
  tool("link").textContent = text("log-copied");
  setTimeout(() => { tool("link").textContent = text("log-copy"); }, 2000);
});

// ---- finding --------------------------------------------------------------------------------------------------------
let current = null;
const select = (row) => {
  current?.removeAttribute("data-current");
  current = row;
  row?.setAttribute("data-current", "");
  if (row) show(row);
};
const say = (text) => { tool("found").textContent = text; };
let missing = null; // what was not found yet: it is looked for again in further lines
// Says what was not found, and in which lines where these are not all.
const miss = (key, again) => {
  missing = again;
  select(null);
  say(ended && first <= 1 ? text(key) : text(`${key}-in`, { from: first, to: next - 1 }));
};
// The next row of these after the current one, or the one before it; around the ends.
const step = (rows, back) => {
  const place = current?.isConnected ? Number(current.id.slice(1)) : back ? Infinity : 0;
  const numbers = rows.map((row) => Number(row.id.slice(1)));
  const index = back ? numbers.findLastIndex((number) => number < place) : numbers.findIndex((number) => number > place);
  return index >= 0 ? index : back ? rows.length - 1 : 0;
};
const find = (back) => {
  const wanted = tool("find").value.toLowerCase();
  missing = null;
  if (!wanted) { select(null); say(""); return; }
  const rows = all(".log-line", log).filter((row) => row.lastElementChild.textContent.toLowerCase().includes(wanted));
  if (!rows.length) { miss("log-no-match", () => find(back)); return; }
  const index = step(rows, back);
  select(rows[index]);
  say(text("log-match", { number: index + 1, count: rows.length }));
};
let typing = 0;
tool("find").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => { select(null); find(false); }, 200); });
tool("find").addEventListener("keydown", (event) => { if (event.key === "Enter") { clearTimeout(typing); find(event.shiftKey); } });
tool("find-next").addEventListener("click", () => find(false));
tool("find-previous").addEventListener("click", () => find(true));
const nextError = () => {
  missing = null;
  const rows = all(".log-line[data-error]", log);
  if (!rows.length) { miss("log-no-error", nextError); return; }
  const index = step(rows, false);
  select(rows[index]);
  say(text("log-error-match", { number: index + 1, count: rows.length }));
};
tool("error").addEventListener("click", nextError);
// The last page comes at once, not after all between.
tool("last").addEventListener("click", () => { if (behind && !ended) location.assign("?line=last#log"); else toEnd(); });

// ---- wrapping, kept for all logs ------------------------------------------------------------------------------------
const wrap = (isOn) => {
  log.dataset.wrap = isOn ? "on" : "off";
  tool("wrap").setAttribute("aria-pressed", String(isOn));
};
wrap(localStorage.getItem("log-wrap") !== "off");
tool("wrap").addEventListener("click", () => {
  const isOn = log.dataset.wrap === "off";
  localStorage.setItem("log-wrap", isOn ? "on" : "off");
  wrap(isOn);
});

tool("tools").hidden = false;
log.addEventListener("scroll", look);
more.addEventListener("click", toEnd);
sayLoaded();
tool("first").hidden = first <= 1;
if (range()) mark();
else if (new URLSearchParams(location.search).has("line")) following = false;
else toEnd();
if (!ended) follow();
