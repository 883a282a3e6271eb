// Keeps the page of a claim that is checked up to date, until it is the page of its result.
// The server makes every page. A stream of events says when there is a new one; without a stream,
// the page is asked for every second, and with one now and then, for what is no event.
const EVERY = 1000;
const EVERY_WITH_STREAM = 5000;
const ANSWER_WITHIN = 10000;
const PARTS = ["claim-text", "now", "so-far", "waiting", "note", "trail"];

const main = document.querySelector("main");
const live = document.getElementById("progress");
const opened = performance.now() - 1000 * Number(live.dataset.seconds);
const chosen = new Map(); // the groups that the reader has opened or closed, by their ids

let busy = false;
let again = false; // something happened while the page was asked for
let failures = 0;
let stream = null;
let timer = 0;
let ticking = 0;

// Puts the new content of a part in its place, and leaves what the reader has opened as it is.
function show(part, page) {
  const before = document.getElementById(part);
  const now = page.getElementById(part);
  for (const group of now.querySelectorAll("details")) {
    if (chosen.has(group.id)) group.open = chosen.get(group.id);
  }
  if (before.innerHTML === now.innerHTML) return;
  const focused = before.contains(document.activeElement) && document.activeElement.closest("details")?.id;
  before.replaceChildren(...now.childNodes);
  if (focused) document.querySelector(`#${focused} > summary`)?.focus({ preventScroll: true });
}

function update(page) {
  for (const part of PARTS) show(part, page);
  const bar = page.getElementById("bar");
  Object.assign(document.getElementById("bar"), { max: bar.max, value: bar.value });
  const { hop } = page.getElementById("progress").dataset;
  if (hop !== live.dataset.hop) document.getElementById("spoken").textContent = `Round ${hop}`;
  live.dataset.hop = hop;
}

// The verdict, or why there is none: the rest of the page in the place of this one.
function finish(page) {
  stream?.close();
  clearTimeout(timer);
  clearInterval(ticking);
  document.title = page.title;
  document.body.className = page.body.className;
  main.replaceChildren(...page.querySelector("main").childNodes);
  for (const { src } of page.querySelectorAll("head script[src]")) {
    const script = document.createElement("script");
    // A module runs once for each address, and some have run for the page before.
    Object.assign(script, { type: "module", src: `${src}#result` });
    document.head.append(script);
  }
  const verdict = document.getElementById("verdict") ?? main.querySelector("h1");
  verdict.tabIndex = -1;
  verdict.focus({ preventScroll: true });
  // Nothing scrolls by itself: whoever has scrolled past the verdict gets a link to it.
  if (verdict.id && verdict.getBoundingClientRect().bottom < 0) {
    const link = document.createElement("a");
    Object.assign(link, { href: "#verdict", className: "to-verdict" });
    link.textContent = `${verdict.textContent.trim()} ↑`;
    link.addEventListener("click", () => link.remove());
    main.append(link);
  }
}

async function refresh() {
  again = true;
  if (busy) return;
  busy = true;
  try {
    while (again) {
      again = false;
      const answer = await fetch(location.href, {
        headers: { Accept: "text/html" },
        signal: AbortSignal.timeout(ANSWER_WITHIN),
      });
      if (answer.status >= 500) throw new Error("The server has a problem.");
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      failures = 0;
      trouble("");
      if (page.getElementById("progress")) update(page);
      else return finish(page);
    }
  } catch (error) {
    failures += 1;
    trouble(error.constructor === Error ? error.message : "ESOTERIC cannot be reached.");
  } finally {
    busy = false;
  }
}

function trouble(reason) {
  const box = document.getElementById("trouble");
  const text = reason && `${reason} Trying again automatically.`;
  if (box.textContent !== text) box.textContent = text; // screen readers read it when it is set
  box.hidden = !text;
}

function ask() {
  const streams = stream?.readyState === EventSource.OPEN;
  const pause = streams ? EVERY_WITH_STREAM : Math.min(EVERY_WITH_STREAM, EVERY * 2 ** failures);
  timer = setTimeout(async () => {
    await refresh();
    if (live.isConnected) ask();
  }, pause);
}

// A browser opens few connections to one server, so a page that nobody sees holds none.
function listen() {
  stream?.close();
  if (document.hidden || !live.isConnected) return;
  stream = new EventSource(live.dataset.events);
  for (const event of ["progress", "state", "error"]) stream.addEventListener(event, refresh);
}

function tick() {
  const seconds = Math.floor((performance.now() - opened) / 1000);
  const minutes = Math.floor(seconds / 60);
  const text = minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
  document.getElementById("elapsed").textContent = text;
}

document.getElementById("trail").addEventListener("click", (event) => {
  const group = event.target.closest("summary")?.parentElement;
  if (group) chosen.set(group.id, !group.open); // the click changes it after this
});
ticking = setInterval(tick, 500);
document.addEventListener("visibilitychange", listen);
listen();
ask();
