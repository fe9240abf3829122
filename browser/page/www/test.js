// Uses the page as a person would, twice with a reload between, and sends the runner what it saw: a line per check.
const control = new URLSearchParams(location.search).has("control");
const lines = JSON.parse(sessionStorage.getItem("lines") ?? "[]");
const element = (id) => document.getElementById(id);

function check(name, found, expected) {
  const [is, should] = [found, expected].map((value) => JSON.stringify(value));
  lines.push(is === should ? `ok ${name}` : `FAILED ${name}: ${is}, expected ${should}`);
}

async function saved() {
  while (element("status").textContent !== "saved") await new Promise((resolve) => setTimeout(resolve, 5));
}

async function type(field, value) {
  element(field).value = value;
  element(field).dispatchEvent(new Event("input"));
  await saved();
}

async function press(button) {
  element(button).click();
  await saved();
}

function thrown(call, operation, request) {
  try {
    return call(operation, request);
  } catch (error) {
    return [error.code, error.details?.[0]?.path];
  }
}

const titles = () => [...element("documents").children].map((item) => item.textContent);
const typed = "## Packing\n\n- [ ] passport\n- [x] tickets\n  - two of them\n\nSee [[Lisbon]].";

async function beforeReload({ call }) {
  check("a new space is empty", titles(), []);
  await press("create");
  await type("title", "Trip");
  check("a title", titles(), ["Trip"]);
  await type("text", typed);
  const page = call("list_documents", {}).items[0].id;
  const blocks = call("fetch", { id: page }).content;
  check("markdown becomes blocks", blocks.map((block) => block.listStyle ?? block.textStyle ?? block.type), ["h2", "task", "task", "bullet", "text"]);
  check("blocks become markdown", call("content_markdown", page), typed);
  check("tasks are listed", call("tasks", { scope: "document", documentId: page }).items.length, 2);
  check("a pattern", call("search_blocks", { blockId: page, pattern: "pass(port|age)" }).items.length, 1);
  check("an error names its place", thrown(call, "fetch", { id: page, maxDepth: "all" }), ["VALIDATION", "maxDepth"]);
  check("what needs an index says so", thrown(call, "search_blocks", { pattern: "pass" }), ["VALIDATION", "blockId"]);
  await type("text", `${typed}\n\nSee you.`);
  await press("undo");
  check("undo", element("text").value.trimEnd(), typed);
  await press("redo");
  check("redo", element("text").value.trimEnd(), `${typed}\n\nSee you.`);
  const rest = Array.from({ length: 2000 }, (_, index) => ({ type: "text", markdown: `line ${index}` }));
  const began = performance.now();
  call("insert_blocks", { blocks: rest, position: { pageId: page, position: "end" } });
  const read = call("fetch", { id: page }).content.length;
  lines.push(`   ${rest.length} blocks inserted and read in ${Math.round(performance.now() - began)} ms`);
  check("many blocks", read, blocks.length + 1 + rest.length);
  await press("create");
  sessionStorage.setItem("lines", JSON.stringify(lines));
  sessionStorage.setItem("page", page);
  location.reload();
}

async function afterReload({ call }) {
  check("after a reload documents are there", titles().sort(), ["Trip", "Untitled"]);
  const blocks = call("fetch", { id: sessionStorage.getItem("page") }).content;
  check("and their blocks", [blocks.length, blocks[1].markdown], [2006, control ? "nothing" : "- [ ] passport"]);
  const other = document.body.appendChild(Object.assign(document.createElement("iframe"), { src: "index.html" }));
  const status = () => other.contentDocument.getElementById("status")?.textContent;
  while (!status()) await new Promise((resolve) => setTimeout(resolve, 5));
  check("a second page waits for the first", status(), "these notes are open in another page");
  await fetch("result", { method: "POST", body: lines.join("\n") });
}

try {
  const app = await import("./app.js");
  await (sessionStorage.getItem("lines") ? afterReload(app) : beforeReload(app));
} catch (error) {
  lines.push(`FAILED ${error.stack ?? JSON.stringify(error)}`);
  await fetch("result", { method: "POST", body: lines.join("\n") });
}
