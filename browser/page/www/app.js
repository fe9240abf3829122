// Notes as markdown. The space is in memory; after each change the page keeps its entries in IndexedDB.
import init, { Notes } from "./notes.js";
import { load, keep } from "./keeper.js";

const element = (id) => document.getElementById(id);
const [documents, title, text, status] = ["documents", "title", "text", "status"].map(element);

await init();
const saved = await load();
const notes = saved ? Notes.open(saved) : Notes.create(Intl.DateTimeFormat().resolvedOptions().timeZone);
const call = (operation, request) => JSON.parse(notes.call(operation, JSON.stringify(request ?? {})));
let shown = null;

// Shows what `change` did, or why it did nothing.
async function act(change) {
  try {
    change();
    show();
    status.textContent = "saving";
    await keep(notes.save());
    status.textContent = "saved";
  } catch (error) {
    status.textContent = error.message ?? String(error);
  }
}

function show() {
  const listed = call("list_documents", {}).items;
  if (!listed.some((document) => document.id === shown)) shown = listed[0]?.id ?? null;
  documents.replaceChildren(...listed.map((document) => {
    const button = Object.assign(window.document.createElement("button"), { textContent: document.title || "Untitled" });
    button.setAttribute("aria-current", document.id === shown);
    button.onclick = () => { shown = document.id; show(); };
    const item = window.document.createElement("li");
    item.append(button);
    return item;
  }));
  title.disabled = text.disabled = shown === null;
  const current = listed.find((document) => document.id === shown);
  const markdown = shown === null ? "" : call("content_markdown", shown);
  // The cursor stays where it is, and so do blank lines at the end.
  if (document.activeElement !== title) title.value = current?.title ?? "";
  if (text.value.trimEnd() !== markdown.trimEnd()) text.value = markdown;
}

element("create").onclick = () => act(() => {
  shown = call("create_documents", { documents: [{ title: "Untitled" }] }).items[0].id;
});
element("undo").onclick = () => act(() => call("undo"));
element("redo").onclick = () => act(() => call("redo"));
title.oninput = () => act(() => call("update_documents", { documents: [{ id: shown, title: title.value }] }));
text.oninput = () => act(() => call("apply_markdown", { pageId: shown, markdown: text.value }));

show();
status.textContent = "ready";
export { call };
