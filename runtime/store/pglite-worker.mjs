// The embedded database's thread: PostgreSQL's protocol in, PostgreSQL's protocol out. An entry of the build (dist/pglite-worker.js), because a
// worker is started from a file. Plain JavaScript: there is nothing in it to check, and it starts from the sources as well.
import { mkdirSync } from "node:fs"
import { parentPort, workerData } from "node:worker_threads"
import { PGlite } from "@electric-sql/pglite"

/** `workerData`: `{ folder, initializeOnly }`. Says `ready` or `failed`; then answers each `bytes` by `bytes`, in order. */
try {
  mkdirSync(workerData.folder, { recursive: true })
  const database = await PGlite.create({ dataDir: workerData.folder })
  if (workerData.initializeOnly) {
    await database.close()
    parentPort.postMessage({ kind: "ready" })
  } else serve(database)
} catch (error) {
  parentPort.postMessage({ kind: "failed", message: error instanceof Error ? error.message : String(error) })
}

function serve(database) {
  let last = Promise.resolve()
  parentPort.on("message", (message) => {
    last = last
      .then(() => answer(database, message))
      .catch((error) => {
        // What is no answer of the protocol is a broken database: the thread ends, and another one is started.
        setImmediate(() => {
          throw error
        })
      })
  })
  parentPort.postMessage({ kind: "ready" })
}

async function answer(database, message) {
  if (message.kind === "close") {
    await database.close()
    parentPort.close()
    return
  }
  if (message.kind === "open") {
    // There is one session for the thread's whole life; whoever connects must find it as new.
    await database.exec("rollback")
    await database.exec("discard all")
    parentPort.postMessage({ kind: "opened", connection: message.connection })
    return
  }
  const result = await database.execProtocolRaw(message.bytes)
  // A copy of exactly the answer, moved and not cloned: the result may be a view of the database's whole memory.
  const bytes = result.slice()
  parentPort.postMessage({ kind: "bytes", connection: message.connection, bytes }, [bytes.buffer])
}
