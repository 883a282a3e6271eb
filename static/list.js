// Keeps a list that is being checked up to date: gets the page again and replaces what changed.
const EVERY = 2000;
const list = document.getElementById("list");

function refresh(fresh) {
  const focused = document.activeElement;
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const old = list.querySelector(`[data-part="${part.dataset.part}"]`);
    // Rows are replaced one by one, so that what is read or selected stays.
    if (part.dataset.part === "rows" && old.children.length === part.children.length) {
      [...part.children].forEach((row, at) => replace(old.children[at], row));
    } else {
      replace(old, part);
    }
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

async function follow() {
  while (list.dataset.state === "running") {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    if (document.hidden) continue;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) continue;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      refresh(page.getElementById("list"));
      list.dataset.state = page.getElementById("list").dataset.state;
      document.title = page.title;
    } catch {
      // The server does not answer now; the next try may find it.
    }
  }
}

follow();
