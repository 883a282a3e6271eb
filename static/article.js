// Opens the article that contains a link's target, also in browsers that do not do this.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  let closed = target.closest("details:not([open])");
  while (closed) {
    closed.open = true;
    closed = closed.parentElement.closest("details:not([open])");
  }
  target.scrollIntoView();
}

window.addEventListener("hashchange", openTarget);
openTarget();
