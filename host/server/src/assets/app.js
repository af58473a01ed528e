// The plain page. Whatever a plugin or a web page wrote reaches the document as text only: `el` sets textContent, and
// addresses are taken only where they lead to this host's own files.

const main = document.getElementById("main");
const line = document.getElementById("line");
const KEPT = 2000;

function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

async function api(method, path, body) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch("/api/v1" + path, options);
  const text = await response.text();
  const answer = text ? JSON.parse(text) : null;
  if (!response.ok) throw Object.assign(new Error(answer?.detail ?? response.statusText), { problem: answer, status: response.status });
  return answer;
}

function live(path, handlers) {
  const source = new EventSource("/api/v1" + path);
  source.onopen = () => say("live");
  source.onerror = () => say(source.readyState === EventSource.CLOSED ? "the host closed the stream: reload to go on" : "the host is gone, waiting for it …", true);
  for (const [name, handle] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
  addEventListener("pagehide", () => source.close());
  return source;
}

function say(text, lost = false) {
  line.textContent = text;
  line.className = lost ? "line lost" : "line";
}

const WORDS = { working: "working", input_required: "waits for you", completed: "completed", failed: "failed", cancelled: "cancelled" };
const WAITS = { slot: "queued", timer: "sleeping", child: "waits for a task", operator: "waits for an operator" };

function badge(task) {
  let text = WORDS[task.status] ?? task.status;
  if (task.status === "working" && task.waitingFor) text = WAITS[task.waitingFor] ?? text;
  if (task.status === "failed" && task.cause) text += ` (${task.cause})`;
  return el("span", { className: "badge " + task.status, textContent: text });
}

function ago(time) {
  const seconds = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(time).toLocaleDateString();
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

// ---- the list ----

async function list() {
  document.title = "Windlass";
  const tasks = new Map();
  const waiting = el("div", { className: "card rows" });
  const others = el("div", { className: "card rows" });
  const waitingHead = el("h2", { textContent: "Waiting for you" });
  const othersHead = el("h2", { textContent: "All others" });
  const empty = el("p", { className: "empty" }, "No tasks yet. Start one in a terminal:",
    el("br"), el("code", { textContent: "windlass plugin grant capture \"browser https://example.com\"" }),
    el("br"), el("code", { textContent: "windlass run capture url=https://example.com" }));

  function row(task) {
    const name = task.title ? `${task.tool}: ${task.title}` : task.tool;
    return el("a", { className: "row", href: "/tasks/" + task.id },
      badge(task),
      el("div", { className: "what" },
        el("div", { className: "name", textContent: name }),
        task.statusMessage ? el("div", { className: "says", textContent: task.statusMessage }) : null),
      el("time", { dateTime: task.updatedAt, textContent: ago(task.updatedAt), title: task.updatedAt }));
  }

  let scheduled = false;
  function draw() {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      // Ids begin with the time of creation: newest first.
      const all = [...tasks.values()].filter((task) => !task.archived).sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, 500);
      const asks = all.filter((task) => task.status === "input_required");
      const rest = all.filter((task) => task.status !== "input_required");
      waiting.replaceChildren(...asks.map(row));
      others.replaceChildren(...rest.map(row));
      waiting.hidden = waitingHead.hidden = asks.length === 0;
      others.hidden = rest.length === 0;
      othersHead.hidden = rest.length === 0 || asks.length === 0;
      empty.hidden = all.length > 0;
    });
  }

  async function load() {
    const page = await api("GET", "/tasks?limit=100");
    tasks.clear();
    for (const task of page.tasks) tasks.set(task.id, task);
    draw();
  }

  await load();
  main.replaceChildren(el("h1", { textContent: "Tasks" }), empty, waitingHead, waiting, othersHead, others);
  live("/events/stream", {
    task: (task) => { tasks.set(task.id, task); draw(); },
    deleted: ({ id }) => { tasks.delete(id); draw(); },
    reset: load,
  });
  setInterval(draw, 30000);
}

// ---- one task ----

const LOOKS = {
  "task.created": ["◇", "quiet"], "turn.started": ["▷", "quiet"], "turn.resumed": ["↻", "warn"], "turn.ended": ["□", "quiet"], "status": ["·", "quiet"],
  "log": ["│", "note"], "output": ["»", "note"], "progress": ["~", "quiet"], "input.requested": ["?", "ask"], "input.answered": ["✓", "ask"],
  "message": ["→", "note"], "artifact": ["▣", "note"], "stdout": ["┊", "std"], "stderr": ["┊", "std"], "status.message": ["✎", "note"],
  "cancel.requested": ["■", "warn"], "turn.stopped": ["■", "warn"], "warning": ["!", "warn"], "dialog": ["!", "warn"], "blocked": ["!", "warn"], "page.lost": ["!", "warn"],
};

const PICTURES = ["image/png", "image/jpeg", "image/webp"];

function ours(href) {
  return typeof href === "string" && /^\/api\/v1\/tasks\/[0-9a-f-]{36}\/artifacts\/a\d+$/.test(href) ? href : null;
}

function look(record) {
  if (record.kind === "step.started") return ["○", "going"];
  if (record.kind === "step.finished") return record.data.ok === false || record.data.error ? ["✗", "bad"] : ["●", "step"];
  if (record.kind === "log" && record.data.level === "error") return ["│", "bad"];
  if (record.kind === "log" && record.data.level === "warn") return ["│", "warn"];
  return LOOKS[record.kind] ?? ["·", "quiet"];
}

// A status that says again how the turn ended.
function saysTheSame(ended, record) {
  return record.kind === "status" && ended !== null && (ended === record.text || ended.startsWith(record.text + ":"));
}

function recordRow(record, task) {
  const [glyph, tone] = look(record);
  const text = el("div", { className: "text" });
  const took = record.data.durationMs !== undefined && /^(.*) (\([^()]*\))$/s.exec(record.text);
  if (took) text.append(took[1] + " ", el("span", { className: "took", textContent: took[2] }));
  else text.textContent = record.text;
  // Where a permission is missing, the command that gives it. Another reason no grant cures.
  if (record.kind === "blocked" && record.data.grant && String(record.data.reason).includes("not granted")) {
    text.append(el("code", { className: "cure", textContent: `windlass plugin grant ${task.plugin} "${record.data.grant}"` }));
  }
  // A line parts the turns from each other, and what came before a restart from what came after it.
  const turn = (record.kind === "turn.started" && record.turn > 1) || record.kind === "turn.resumed";
  const time = new Date(record.time);
  return el("div", { className: `record ${tone}${turn ? " turn" : ""}`, title: `${record.seq} · ${record.kind} · ${record.time}` },
    el("span", { className: "glyph", textContent: glyph }), text,
    el("span", { className: "when", textContent: time.toLocaleTimeString([], { hour12: false }) }));
}

async function one(id) {
  let task;
  try {
    task = await api("GET", "/tasks/" + id);
  } catch (error) {
    document.title = "Windlass";
    main.replaceChildren(el("p", { className: "empty" }, error.message, el("br"), el("a", { href: "/", textContent: "All tasks" })));
    return;
  }
  const head = el("div");
  const questions = el("div", { className: "asked" });
  const outcome = el("div");
  const log = el("div", { className: "card log" });
  const side = el("div", { className: "side" });
  const talk = followUp(id);
  const columns = el("div", { className: "columns alone" }, el("div", { className: "flow" }, questions, outcome, log, talk.node), side);
  main.replaceChildren(head, columns);

  // The newest records are enough to begin with; the rest is one click away.
  const all = new URLSearchParams(location.search).has("all");
  const after = all ? 0 : Math.max(task.firstSeq - 1, task.lastSeq - KEPT, 0);
  const earlier = after - task.firstSeq + 1;
  if (earlier > 0) log.append(el("a", { className: "more", href: `/tasks/${id}?all`, textContent: earlier === 1 ? "1 earlier record" : `${earlier} earlier records` }));

  const steps = new Map();
  const forms = new Map();
  const files = new Map();
  let progress = null;
  let ended = null;
  let rows = 0;

  function draw() {
    document.title = `${task.title ?? task.tool} – Windlass`;
    head.replaceChildren(header(task));
    const open = task.questions ?? [];
    for (const key of [...forms.keys()]) {
      if (open.some((question) => question.key === key)) continue;
      forms.get(key).remove();
      forms.delete(key);
    }
    for (const question of open) {
      if (forms.has(question.key)) continue;
      const card = form(id, question);
      forms.set(question.key, card);
      questions.append(card);
    }
    outcome.replaceChildren(...(task.open ? [] : ending(task)));
    talk.draw(task);
    for (const artifact of task.artifacts ?? []) files.set(artifact.id, artifact);
    gallery();
  }

  function gallery() {
    const kept = [...files.values()].filter((file) => ours(file.href));
    const picture = kept.filter((file) => PICTURES.includes(file.mimeType)).at(-1);
    const cards = [];
    if (picture) {
      cards.push(el("div", { className: "card" }, el("figure", {},
        el("a", { href: ours(picture.href), target: "_blank", rel: "noopener" }, el("img", { src: ours(picture.href), alt: picture.name })),
        el("figcaption", { textContent: `${picture.name}, ${size(picture.size)}` }))));
    }
    // One picture alone is named below itself.
    if (kept.length > (picture ? 1 : 0)) {
      cards.push(el("div", { className: "card files" }, ...kept.map((file) =>
        el("a", { href: ours(file.href), target: "_blank", rel: "noopener" }, el("span", { textContent: file.name }), el("span", { textContent: size(file.size) })))));
    }
    columns.classList.toggle("alone", cards.length === 0);
    side.replaceChildren(...cards);
  }

  function show(record) {
    const bottom = innerHeight + scrollY > document.documentElement.scrollHeight - 80;
    if (saysTheSame(ended, record)) return;
    ended = record.kind === "turn.ended" ? record.text : null;
    const row = recordRow(record, task);
    const step = record.data.step !== undefined ? `${record.turn}.${record.data.step}` : null;
    const href = record.kind === "artifact" && PICTURES.includes(record.data.artifact?.mimeType) && ours(record.data.artifact.href);
    if (href) row.querySelector(".text").append(el("a", { href, target: "_blank", rel: "noopener" }, el("img", { className: "thumb", src: href, alt: record.data.artifact.name, loading: "lazy" })));
    if (record.kind === "step.started") steps.set(step, row);
    if (record.kind === "step.finished" && steps.has(step)) {
      // One line a step: its end takes the place of its beginning.
      steps.get(step).replaceWith(row);
      steps.delete(step);
    } else if (record.kind === "progress" && progress) {
      progress.replaceWith(row);
    } else {
      log.append(row);
      rows += 1;
    }
    progress = record.kind === "progress" ? row : progress;
    if (record.kind === "turn.ended" || record.kind === "turn.resumed") {
      for (const left of steps.values()) left.classList.remove("going");
      steps.clear();
      progress = null;
    }
    while (!all && rows > KEPT * 2) {
      log.querySelector(".record")?.remove();
      rows -= 1;
    }
    if (record.kind === "artifact" && record.data.artifact) {
      files.set(record.data.artifact.id, record.data.artifact);
      gallery();
    }
    if (bottom && caughtUp) scrollTo(0, document.documentElement.scrollHeight);
  }

  let caughtUp = false;
  let refreshing = false;
  async function refresh() {
    if (refreshing) return;
    refreshing = true;
    // What changes together is looked at together.
    await new Promise((resolve) => setTimeout(resolve, 50));
    refreshing = false;
    try {
      task = await api("GET", "/tasks/" + id);
      draw();
    } catch { /* The stream says when the host is gone. */ }
  }

  draw();
  const CHANGES = ["status", "status.message", "turn.started", "turn.ended", "turn.stopped", "input.requested", "input.answered", "cancel.requested", "message"];
  live(`/tasks/${id}/events/stream?until=never&after=${after}`, {
    record: (record) => { show(record); if (caughtUp && CHANGES.includes(record.kind)) refresh(); },
    task: (now) => { task = now; draw(); },
    "caught-up": () => { caughtUp = true; },
    end: (now) => { task = now; draw(); },
  });
}

function header(task) {
  const sub = el("div", { className: "sub" }, badge(task), el("span", { textContent: task.title ? `${task.tool}, turn ${task.turn}` : `turn ${task.turn}` }),
    task.statusMessage ? el("span", { textContent: task.statusMessage }) : null,
    el("span", { textContent: "started " + ago(task.createdAt), title: task.createdAt }), el("code", { textContent: task.id }));
  const actions = el("div", { className: "actions" });
  if (task.open || task.waitingFor === "message") {
    actions.append(el("button", {
      className: "danger", textContent: "Cancel",
      onclick: async (event) => {
        event.target.disabled = true;
        try { await api("POST", `/tasks/${task.id}/cancel`); } catch (error) { say(error.message, true); }
      },
    }));
  }
  const input = Object.keys(task.input ?? {}).length === 0 ? null : el("details", { className: "input" }, el("summary", { textContent: "Input" }), el("pre", { textContent: JSON.stringify(task.input, null, 2) }));
  return el("div", { className: "head" }, el("div", {}, el("h1", { textContent: task.title ?? task.tool }), sub, input), actions);
}

// The same JSON has the same text, whatever the order of its names.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => JSON.stringify(name) + ":" + canonical(value[name])).join()}}`;
}

// Without a text of its own, an outcome's text is its data.
function isData(text, data) {
  try {
    return data !== null && data !== undefined && canonical(JSON.parse(text)) === canonical(data);
  } catch {
    return false;
  }
}

function frames(failure) {
  const all = Array.isArray(failure?.backtrace) ? failure.backtrace : [];
  if (all.length === 0) return null;
  const library = /^(std::|core::|alloc::|<alloc::|__rust|rust_begin_unwind|rust_panic|abort)|\/rustc\//;
  const own = all.filter((frame) => !library.test(frame));
  return el("details", { className: "frames" }, el("summary", { textContent: "Where in the plugin" }), el("pre", { className: "data", textContent: (own.length > 0 ? own : all).join("\n") }));
}

function ending(task) {
  const parts = [];
  if (task.failure?.message) parts.push(el("pre", { textContent: task.failure.message }));
  const trace = frames(task.failure);
  if (trace) parts.push(trace);
  for (const content of task.outcome?.content ?? []) {
    if (typeof content.text === "string" && !isData(content.text, task.outcome.structured)) parts.push(el("pre", { textContent: content.text }));
  }
  if (task.outcome?.structured !== undefined && task.outcome?.structured !== null) parts.push(el("pre", { className: "data", textContent: JSON.stringify(task.outcome.structured, null, 2) }));
  if (task.outcome?.question) parts.push(el("p", { className: "asks", textContent: task.outcome.question }));
  if (parts.length === 0) return [];
  return [el("h2", { textContent: "Outcome" }), el("div", { className: "card outcome " + task.status }, ...parts), el("h2", { textContent: "Log" })];
}

// ---- the form of a question ----

function choices(schema) {
  if (Array.isArray(schema.enum)) return schema.enum.map((value, i) => [value, String(schema.enumNames?.[i] ?? value)]);
  if (Array.isArray(schema.oneOf)) return schema.oneOf.filter((one) => "const" in one).map((one) => [one.const, String(one.title ?? one.const)]);
  return null;
}

// A field: its part of the document, and a function that reads it (undefined: left out).
function field(name, schema, required) {
  const label = el("span", { className: "label", textContent: (schema.title ?? name) + (required ? "" : " (optional)") });
  const about = schema.description ? el("small", { textContent: schema.description }) : null;
  const options = choices(schema);
  if (options) {
    const select = el("select", { required });
    if (!required || schema.default === undefined) select.append(el("option", { value: "", textContent: "choose …" }));
    options.forEach(([value, text], i) => select.append(el("option", { value: String(i), textContent: text, selected: value === schema.default })));
    return [el("label", { className: "field" }, label, about, select), () => (select.value === "" ? undefined : options[Number(select.value)][0])];
  }
  if (schema.type === "boolean") {
    const radios = [true, false].map((value) => el("input", { type: "radio", name: "field-" + name, value: String(value), required, checked: schema.default === value }));
    const box = el("fieldset", { className: "field" }, label, about,
      el("label", { className: "choice" }, radios[0], "Yes"), el("label", { className: "choice" }, radios[1], "No"));
    return [box, () => (radios[0].checked ? true : radios[1].checked ? false : undefined)];
  }
  const number = schema.type === "number" || schema.type === "integer";
  const types = { email: "email", date: "date", uri: "url" };
  const input = el("input", { type: number ? "number" : types[schema.format] ?? "text", required, value: schema.default ?? "" });
  if (number) input.step = schema.type === "integer" ? "1" : "any";
  if (schema.minimum !== undefined) input.min = schema.minimum;
  if (schema.maximum !== undefined) input.max = schema.maximum;
  if (schema.maxLength !== undefined) input.maxLength = schema.maxLength;
  return [el("label", { className: "field" }, label, about, input), () => (input.value === "" && !required ? undefined : number ? Number(input.value) : input.value)];
}

function form(id, question) {
  const wrong = el("div", { className: "wrong", role: "alert" });
  const schema = question.schema ?? {};
  const required = schema.required ?? [];
  const properties = Object.entries(schema.properties ?? {});
  properties.sort(([a], [b]) => (required.includes(b) ? 1 : 0) - (required.includes(a) ? 1 : 0));
  const buttons = [];

  async function send(answer) {
    wrong.textContent = "";
    for (const button of buttons) button.disabled = true;
    try {
      await api("POST", `/tasks/${id}/input`, { answers: { [question.key]: answer } });
    } catch (error) {
      wrong.textContent = (error.problem?.violations ?? []).map((one) => `${one.path || "form"}: ${one.message}`).join("\n") || error.message;
      for (const button of buttons) button.disabled = false;
    }
  }

  const parts = [el("p", { textContent: question.message })];
  const node = el("form", { className: "card question" });
  if (properties.length === 1 && properties[0][1].type === "boolean" && required.length === 1) {
    // A yes or no is two buttons.
    const [name, one] = properties[0];
    if (one.description) parts.push(el("small", { textContent: one.description }));
    buttons.push(
      el("button", { type: "button", className: "main", textContent: one.title ? `${one.title}: yes` : "Yes", onclick: () => send({ action: "accept", content: { [name]: true } }) }),
      el("button", { type: "button", textContent: "No", onclick: () => send({ action: "accept", content: { [name]: false } }) }));
  } else {
    const fields = properties.map(([name, one]) => [name, ...field(name, one, required.includes(name))]);
    parts.push(...fields.map(([, box]) => box));
    buttons.push(el("button", { className: "main", textContent: "Answer" }));
    node.addEventListener("submit", (event) => {
      event.preventDefault();
      const content = {};
      for (const [name, , read] of fields) {
        const value = read();
        if (value !== undefined) content[name] = value;
      }
      send({ action: "accept", content });
    });
  }
  buttons.push(
    el("button", { type: "button", className: "plain", textContent: "Decline", onclick: () => send({ action: "decline" }) }),
    el("button", { type: "button", className: "plain", textContent: "Dismiss", onclick: () => send({ action: "cancel" }) }));
  node.append(...parts, el("div", { className: "buttons" }, ...buttons), wrong);
  return node;
}

// While a turn is open, or where the task waits for a message, something can be said. Another task that ended runs its
// tool once more, which is offered quietly and explained.
function followUp(id) {
  const text = el("textarea", { rows: 1, "aria-label": "Message", required: true });
  const send = el("button");
  const wrong = el("div", { className: "wrong", role: "alert" });
  const form = el("form", { className: "followup" }, text, send);
  const about = el("p", { textContent: "The tool is called again from its start, with the same input and this message. What the earlier turn did, it may do again." });
  const further = el("details", { className: "further" }, el("summary", { textContent: "Run a further turn…" }), about);
  const node = el("div");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    wrong.textContent = "";
    try {
      await api("POST", `/tasks/${id}/continue`, { text: text.value });
      text.value = "";
    } catch (error) {
      wrong.textContent = error.message;
    }
    send.disabled = false;
  });
  let shown = "";
  function draw(task) {
    const now = task.archived ? "nothing" : task.open || task.waitingFor === "message" ? "say" : "further";
    if (now === shown) return;
    shown = now;
    text.placeholder = now === "say" ? "Say something to this task" : "Message for the further turn";
    send.textContent = now === "say" ? "Send" : "Run";
    further.open = false;
    if (now === "further") further.append(form, wrong);
    node.replaceChildren(...{ nothing: [], say: [form, wrong], further: [further] }[now]);
  }
  return { node, draw };
}

// ---- which page ----

const path = /^\/tasks\/([^/]+)$/.exec(location.pathname);
(path ? one(decodeURIComponent(path[1])) : list()).catch((error) => {
  say("", false);
  main.replaceChildren(el("p", { className: "empty", textContent: error.message }));
});
