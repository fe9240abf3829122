// One value in IndexedDB. `save` returns once the browser has it on disk; of several calls at a time the last one wins.
const opened = new Promise((resolve, reject) => {
  const request = indexedDB.open("notes", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("space");
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

export async function load() {
  const transaction = (await opened).transaction("space");
  const request = transaction.objectStore("space").get("entries");
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export async function save(entries) {
  const transaction = (await opened).transaction("space", "readwrite", { durability: "strict" });
  transaction.objectStore("space").put(entries, "entries");
  return new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
}
