// The thread of the embedded database: it reads and writes PostgreSQL's protocol. An entry of the build (dist/pglite-worker.js), because a
// worker starts from a file. Plain JavaScript, so that it also starts from the sources.
import { parentPort, workerData } from "node:worker_threads"
import { PGlite } from "@electric-sql/pglite"

/**
 * One session needs few buffers. PostgreSQL writes to all of them at the start, and its default of 128 MB was half of the memory of `dev`. What
 * they do not hold is read from the system's file cache.
 */
const startParams = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB"]

/** `workerData`: `{ folder }`. Posts `ready` or `failed`, then one `bytes` message for each one received, in order. */
try {
  serve(await PGlite.create({ dataDir: workerData.folder, startParams }))
} catch (error) {
  parentPort.postMessage({ kind: "failed", message: error instanceof Error ? error.message : String(error) })
}

function serve(database) {
  let last = Promise.resolve()
  parentPort.on("message", (message) => {
    last = last
      .then(() => answer(database, message))
      .catch((error) => {
        // A result that is not the protocol means a broken database. Throw, so that the thread ends and another one is started.
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
    // The thread has one session for its whole life; reset it, so that each new connection finds a clean one.
    await database.exec("rollback")
    await database.exec("discard all")
    parentPort.postMessage({ kind: "opened", connection: message.connection })
    return
  }
  const result = await database.execProtocolRaw(message.bytes)
  // Transfer a copy of the result: it may be a view of the database's whole memory.
  const bytes = result.slice()
  parentPort.postMessage({ kind: "bytes", connection: message.connection, bytes }, [bytes.buffer])
}
