// Keeps pages fresh and forms quick. Every page works without it.
"use strict";

const page = document.documentElement;
const skew = Number(page.dataset.now) - Date.now();
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const now = () => Date.now() + skew;

// ---- words: those of the server's catalogue, with the names of their arguments in braces ------------------------------
const words = JSON.parse(page.dataset.words);
const text = (key, args = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => args[name]);

// ---- times ----------------------------------------------------------------------------------------------------------
function relative(at) {
  const seconds = Math.floor(Math.abs(at - now()) / 1000);
  if (seconds >= 86400) return null;
  if (seconds === 0) return text("time-now");
  const minutes = Math.floor(seconds / 60);
  const soon = at > now() && seconds < 600 && seconds % 60 > 0;
  const key = seconds < 60 ? "time-seconds" : soon ? "time-minutes-seconds" : seconds < 3600 ? "time-minutes" : "time-hours";
  const amount = text(key, { seconds: seconds % 60, minutes, hours: Math.floor(seconds / 3600) });
  return text(at > now() ? "time-in" : "time-ago", { amount });
}

function tick() {
  if (document.hidden) return;
  for (const time of all("time[data-relative]")) {
    const at = Date.parse(time.dateTime);
    const words = time.dataset.relative === "next" && at < now() ? text("due-now") : relative(at);
    if (words && time.textContent !== words) time.textContent = words;
  }
}
setInterval(tick, 1000);

// ---- parts that stay fresh: fetched as a whole page, changed only where they differ ----------------------------------
const SAME = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.dataset?.key ?? a.id) === (b.dataset?.key ?? b.id);

function morph(old, fresh) {
  if (old.isEqualNode(fresh) || old.dataset?.keep !== undefined) return;
  if (old.nodeType !== Node.ELEMENT_NODE) { old.nodeValue = fresh.nodeValue; return; }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  let at = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    let match = at;
    if (match && !SAME(match, child)) for (match = at.nextSibling; match && !SAME(match, child);) match = match.nextSibling;
    if (!match) { old.insertBefore(document.importNode(child, true), at); continue; }
    while (at !== match) { const gone = at; at = at.nextSibling; gone.remove(); }
    at = at.nextSibling;
    morph(match, child);
  }
  while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
}

const live = document.getElementById("live");
let paused = sessionStorage.getItem("paused") === "yes";
let lastSeen = Date.now();

function showLive(state, args) {
  if (!live) return;
  live.hidden = false;
  live.dataset.live = state;
  live.querySelector("[data-text]").textContent = text(`live-${state}`, args);
  live.title = { on: text("live-pause"), paused: text("live-resume") }[state] ?? "";
}

// Not while a part is typed in, has selected text, or a dialog is open.
function isInUse(part) {
  const active = document.activeElement;
  const typing = part.contains(active) && active.matches("input, select, textarea");
  const selection = document.getSelection();
  const selected = selection && !selection.isCollapsed && part.contains(selection.anchorNode);
  return typing || selected || document.querySelector("dialog[open]") !== null;
}

async function refresh() {
  if (paused || document.hidden) return;
  try {
    const answer = await fetch(location.href, { headers: { "X-Carillon-Live": "1" }, cache: "no-store" });
    if (answer.redirected) { showLive("signed-out"); return; }
    if (!answer.ok) throw new Error(answer.statusText);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of all("[data-live-part]")) {
      const its = fresh.getElementById(part.id);
      if (its && !isInUse(part)) morph(part, its);
    }
    lastSeen = Date.now();
    showLive("on");
    tick();
  } catch {
    showLive("offline", { seconds: Math.round((Date.now() - lastSeen) / 1000) });
  }
}

if (live && document.querySelector("[data-live-part]")) {
  const quick = () => document.querySelector("[data-live-part][data-moving]") !== null;
  let wait = 0;
  showLive(paused ? "paused" : "on");
  live.addEventListener("click", () => {
    paused = !paused;
    sessionStorage.setItem("paused", paused ? "yes" : "no");
    showLive(paused ? "paused" : "on");
    refresh();
  });
  setInterval(() => { if (++wait >= (quick() ? 1 : 5)) { wait = 0; refresh(); } }, 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { tick(); refresh(); } });
}

// ---- forms ----------------------------------------------------------------------------------------------------------
const base = document.documentElement.dataset.base;
for (const field of all("[data-own-zone]")) field.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
for (const list of all("[data-zones]")) {
  document.querySelector(`input[list="${list.id}"]`)?.addEventListener("focus", async () => {
    const answer = await fetch(`${base}zones`, { headers: { "X-Carillon-Live": "1" } }).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    list.replaceChildren(...(await answer.json()).map((zone) => new Option(zone, zone)));
  }, { once: true });
}

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button || event.target.method !== "post") return;
  if (button.getAttribute("aria-busy") === "true") { event.preventDefault(); return; }
  leaving = true;
  button.setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", () => all("[aria-busy]").forEach((button) => button.removeAttribute("aria-busy")));

document.querySelector("[data-focus]")?.focus();

// A form that was filled in before a new sign-in goes back to its page.
document.querySelector("form[data-go-on]")?.requestSubmit();

let leaving = false;
let changed = false;
for (const form of all("form[data-ask-before-leaving]")) form.addEventListener("input", () => { changed = true; });
window.addEventListener("beforeunload", (event) => { if (changed && !leaving) event.preventDefault(); });

for (const button of all("[data-select-all]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const boxes = all(`input[type="checkbox"][name="${button.dataset.selectAll}"]`);
    const on = [...boxes].some((box) => !box.checked);
    for (const box of boxes) box.checked = on;
  });
}

for (const select of all("form[data-submit-on-change] select")) select.addEventListener("change", () => select.form.requestSubmit());

// The next fires while a schedule is typed.
const preview = document.getElementById("preview");
if (preview) {
  const form = preview.closest("form");
  // The fields that may be marked as wrong while they are typed. Parameters, scripts and passwords are not sent.
  const names = ["expression", "timezone", "seconds", "at", "every_seconds", "from", "to", "start_at", "end_at", "max_fires", "spread_seconds"];
  const wanted = () => {
    const fields = new FormData(form);
    for (const name of ["csrf", "params", "revision", "seen", "child_name"]) fields.delete(name);
    for (const field of form.querySelectorAll("[data-unsent] [name]")) fields.delete(field.name);
    return new URLSearchParams(fields).toString();
  };
  let shown = wanted();
  let timer = 0;
  const show = async () => {
    const asked = wanted();
    if (asked === shown) return;
    shown = asked;
    const answer = await fetch(`${base}jobs/preview?${asked}`, { headers: { "X-Carillon-Live": "1" } }).catch(() => null);
    if (!answer?.ok || asked !== wanted()) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    preview.replaceChildren(...fresh.body.childNodes);
    markSchedule();
  };
  const markSchedule = () => {
    for (const name of names) {
      const field = form.elements[name];
      const error = preview.querySelector(`[data-field="${name}"]`);
      if (!field?.setAttribute) continue;
      document.getElementById(`${name}-error`)?.remove();
      if (error) field.setAttribute("aria-invalid", "true"); else field.removeAttribute("aria-invalid");
    }
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 250); });
}

// Names of jobs that fit what is typed.
const names = document.querySelector("datalist[data-names]");
if (names) {
  const field = document.querySelector(`input[list="${names.id}"]`);
  let timer = 0;
  const offer = async () => {
    const typed = field.value;
    const query = new URLSearchParams({ text: typed, app: field.form.elements.app.value });
    const answer = await fetch(`${names.dataset.names}?${query}`, { headers: { "X-Carillon-Live": "1" } }).catch(() => null);
    if (!answer?.ok || answer.redirected || typed !== field.value) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    names.replaceChildren(...fresh.querySelectorAll("option"));
  };
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(offer, 250); });
  field.form.elements.app.addEventListener("change", offer);
}

// ---- keys ------------------------------------------------------------------------------------------------------------
let going = 0;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea, [contenteditable]")) return;
  const goTo = { d: "", j: "jobs", r: "runs", e: "apps" }[event.key];
  if (event.key === "/") { event.preventDefault(); document.querySelector(".search input")?.focus(); }
  else if (Date.now() - going < 1000 && goTo !== undefined) location.href = base + goTo;
  going = event.key === "g" ? Date.now() : 0;
});
