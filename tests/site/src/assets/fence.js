// Tries to reach `target` in every way a page has. `?via=fetch,image` tries at once, `?via=all` tries all that leave
// the page where it is; without `via` the buttons do. One list item an attempt: `data-via`, and `data-result` once it is over.
const params = new URLSearchParams(location.search);
const target = params.get("target") || "";
const patience = 3000;

const happened = (element, good, bad) => new Promise((resolve) => {
  element[good] = () => resolve("reached");
  element[bad] = () => resolve("failed");
});

const fetched = (url) => fetch(url, { mode: "no-cors", cache: "no-store" }).then(() => "reached", () => "failed");

const ways = {
  fetch: () => fetched(target),
  "fetch-redirect": () => fetched("/redirect?to=" + encodeURIComponent(target)),
  image: () => {
    const image = new Image();
    const result = happened(image, "onload", "onerror");
    image.src = target;
    return result;
  },
  // Frames and popups don't tell an error page from a real one: only the target's own log knows.
  frame: () => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = () => resolve("loaded");
    frame.src = target;
    document.body.append(frame);
  }),
  beacon: () => (navigator.sendBeacon(target, "hello") ? "sent" : "failed"),
  websocket: () => happened(new WebSocket(target.replace(/^http/, "ws")), "onopen", "onerror"),
  "shared-worker": () => new Promise((resolve) => {
    const worker = new SharedWorker("/fence-worker.js");
    worker.onerror = () => resolve("failed");
    worker.port.onmessage = (event) => resolve(event.data);
    worker.port.postMessage(target);
  }),
  popup: () => {
    const popup = open(target, "_blank");
    return popup ? "opened" : "blocked";
  },
  redirect: () => { location.href = "/redirect?to=" + encodeURIComponent(target); return new Promise(() => {}); },
};

async function attempt(via) {
  const line = document.createElement("li");
  line.dataset.via = via;
  line.textContent = via + ": trying";
  document.getElementById("attempts").append(line);
  const late = new Promise((resolve) => setTimeout(resolve, patience, "no answer"));
  let result;
  try {
    result = await Promise.race([ways[via](), late]);
  } catch (error) {
    result = "failed: " + error.message;
  }
  line.dataset.result = result;
  line.textContent = via + ": " + result;
}

document.getElementById("target").textContent = target;
for (const via of Object.keys(ways)) {
  const button = document.createElement("button");
  button.textContent = via;
  button.addEventListener("click", () => attempt(via));
  document.getElementById("ways").append(button);
}

const told = params.get("via") || "";
const list = told === "all" ? Object.keys(ways).filter((via) => via !== "redirect") : told.split(",").filter((via) => via in ways);
if (list.length > 0) {
  Promise.all(list.map(attempt)).then(() => { document.getElementById("finished").hidden = false; });
}
