// Opens the rows of a list in place, and keeps a list that is being checked up to date: gets the
// page again and replaces what changed.
const EVERY = 2000;
// While another page is in front, for those who want a notice at the end.
const EVERY_BEHIND = 10000;
const list = document.getElementById("list");
// The rows as the server sent them, before their links became buttons.
const sent = new WeakMap();

// Without this script the claim of a row leads to its page.
function prepared(row) {
  sent.set(row, row.outerHTML);
  const link = row.querySelector("[data-opens]");
  if (!link) return row;
  const button = document.createElement("button");
  const place = document.createElement("div");
  place.id = `${row.id}-open`;
  place.hidden = true;
  button.type = "button";
  button.className = "opens";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-controls", place.id);
  button.append(...link.childNodes);
  button.addEventListener("click", () => {
    place.hidden = !place.hidden;
    button.setAttribute("aria-expanded", String(!place.hidden));
    if (!place.hidden && !place.dataset.loaded) load(place, link);
  });
  link.replaceWith(button);
  row.querySelector(".entry-verdict").after(place);
  return row;
}

// Any other page in place of what was asked for is that of a login. The link comes back to here.
function loggedOut(said) {
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = "Log in again";
  return [`${said} Your session may have ended. `, link, "."];
}

// What failed is asked for again when the row is opened again.
async function load(place, link) {
  place.setAttribute("aria-busy", "true");
  place.textContent = "Loading …";
  try {
    const answer = await fetch(link.dataset.opens, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(answer.statusText);
    const piece = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.redirected || !piece.querySelector(".entry-open")) {
      place.replaceChildren(...loggedOut("This row could not be loaded."));
    } else {
      place.replaceChildren(...piece.body.childNodes);
      place.dataset.loaded = "yes";
    }
  } catch {
    link.textContent = "Open its page";
    place.replaceChildren("This row could not be loaded. ", link, ".");
  }
  place.removeAttribute("aria-busy");
}

// Touches only rows that differ, so that what is read, opened or selected stays.
function refreshRows(old, fresh) {
  const rows = [...fresh.children].map((row) => {
    const known = document.getElementById(row.id);
    return known && sent.get(known) === row.outerHTML ? known : prepared(row);
  });
  for (const row of [...old.children]) if (!rows.includes(row)) row.remove();
  rows.forEach((row, at) => {
    if (old.children[at] !== row) old.insertBefore(row, old.children[at] ?? null);
  });
}

function refresh(fresh) {
  const focused = document.activeElement;
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const old = list.querySelector(`[data-part="${part.dataset.part}"]`);
    if (part.dataset.part === "rows") refreshRows(old, part);
    else replace(old, part);
  }
  if (!focused.isConnected && focused.id !== "main") {
    const same = [...list.querySelectorAll("a, button")].find(
      (one) => one.textContent === focused.textContent,
    );
    (same ?? document.getElementById("main")).focus({ preventScroll: true });
  }
}

function replace(old, fresh) {
  if (old.outerHTML === fresh.outerHTML) return;
  if (old.getAttribute("role") === "status") old.textContent = fresh.textContent;
  else old.replaceWith(fresh);
}

// A notice of the browser at the end, if it may and the user wants it. Elsewhere there is no such button.
const tell = document.getElementById("tell");
const isWanted = () => tell?.getAttribute("aria-pressed") === "true";
if (tell && "Notification" in window && Notification.permission !== "denied") {
  tell.hidden = false;
  tell.addEventListener("click", async () => {
    const may = isWanted() || (await Notification.requestPermission()) === "granted";
    tell.setAttribute("aria-pressed", String(may && !isWanted()));
    const said = may ? "This page must stay open." : "The browser does not allow it.";
    document.getElementById("tell-status").textContent = may && !isWanted() ? "" : said;
  });
}

function end(title) {
  const text = list.querySelector(".figures").textContent;
  const wanted = isWanted();
  tell?.parentElement.remove();
  try {
    if (wanted) new Notification(title, { body: text });
  } catch {
    // Browsers of phones allow only those of a service worker.
  }
}

async function follow() {
  while (list.dataset.state === "running") {
    await new Promise((resolve) => setTimeout(resolve, document.hidden ? EVERY_BEHIND : EVERY));
    if (document.hidden && !isWanted()) continue;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) continue;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("list");
      if (answer.redirected || !fresh) {
        const problem = document.createElement("p");
        problem.className = "problem";
        problem.setAttribute("role", "alert");
        problem.append(...loggedOut("This list is not kept up to date any more."));
        list.before(problem);
        return;
      }
      refresh(fresh);
      list.dataset.state = fresh.dataset.state;
      document.title = page.title;
      if (list.dataset.state !== "running") end(page.title);
    } catch {
      // The server does not answer now; the next try may find it.
    }
  }
}

[...list.querySelector('[data-part="rows"]').children].forEach(prepared);
follow();
