// Notes as markdown. The space is in memory; after each change the page keeps its entries in IndexedDB.
import init, { Notes } from "./notes.js";
import { load, save } from "./storage.js";

const element = (id) => document.getElementById(id);
const [documents, title, text, status] = ["documents", "title", "text", "status"].map(element);

// A second page would write its own entries over those of the first: it waits until that one is closed.
status.textContent = "these notes are open in another page";
await new Promise((resolve) => {
  navigator.locks.request("notes", () => {
    resolve();
    return new Promise(() => {});
  });
});
await init();
const saved = await load();
const notes = saved ? Notes.open(saved) : Notes.create(Intl.DateTimeFormat().resolvedOptions().timeZone);
const call = (operation, request) => JSON.parse(notes.call(operation, JSON.stringify(request ?? {})));
let shown = null;

// Shows what `change` did, or why it did nothing. The field where it was typed stays: its cursor would jump.
async function act(change, typed) {
  try {
    change();
    show(typed);
    status.textContent = "saving";
    await save(notes.save());
    status.textContent = "saved";
  } catch (error) {
    status.textContent = error.message ?? String(error);
  }
}

function show(typed) {
  const listed = call("list_documents", {}).items;
  if (!listed.some(({ id }) => id === shown)) shown = listed[0]?.id ?? null;
  documents.replaceChildren(...listed.map(({ id, title }) => {
    const button = Object.assign(document.createElement("button"), { textContent: title || "Untitled" });
    button.setAttribute("aria-current", id === shown);
    button.onclick = () => { shown = id; show(); };
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  title.disabled = text.disabled = shown === null;
  const current = listed.find(({ id }) => id === shown);
  const markdown = shown === null ? "" : call("content_markdown", shown);
  if (typed !== title) title.value = current?.title ?? "";
  if (typed !== text) text.value = markdown;
}

element("create").onclick = () => act(() => {
  shown = call("create_documents", { documents: [{ title: "Untitled" }] }).items[0].id;
});
element("undo").onclick = () => act(() => call("undo"));
element("redo").onclick = () => act(() => call("redo"));
title.oninput = () => act(() => call("update_documents", { documents: [{ id: shown, title: title.value }] }), title);
text.oninput = () => act(() => call("apply_markdown", { pageId: shown, markdown: text.value }), text);

show();
status.textContent = "ready";
export { call };
