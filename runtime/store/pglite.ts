import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { Worker } from "node:worker_threads"
import { Client } from "pg"
import { SourceUnavailable } from "../check/ports.ts"
import type { Database } from "./database.ts"
import { type OwnerLock, takeOwnership } from "./owner-lock.ts"
import { unpackDatabase } from "./packed-database.ts"
import { defaultSchema } from "./schema-name.ts"
import { SqlDatabase } from "./sql-database.ts"
import { type Wire, WorkerStream } from "./worker-stream.ts"

/** All optional. */
export interface PgliteOptions {
  /** Called when the folder is new, before the database is created in it. */
  readonly onInitialize?: (() => void) | undefined
  /** Timeout of a statement in milliseconds (default: 10,000). After it the thread is restarted. */
  readonly statementMs?: number | undefined
  readonly onFault?: ((error: Error) => void) | undefined
  /** See `SqlDatabaseOptions.onRepeat`. */
  readonly onRepeat?: ((sqlState: string) => void) | undefined
}

/** This installation does not contain the embedded database. The container image leaves it out. */
export class NotEmbedded extends Error {
  override readonly name = "NotEmbedded"
}

/**
 * Opens the embedded database in `folder` (`.sallyport` of the project) and creates the folder. For development and small installations:
 * one process and one session, which runs one statement at a time in a thread of its own.
 * @throws NotEmbedded when this installation lacks it · FolderInUse when another process has it open · SourceUnavailable when it does not
 * start
 */
export async function openPglite(folder: string, options: PgliteOptions = {}): Promise<Database> {
  if (!isInstalled()) throw new NotEmbedded("this installation has no embedded database")
  await mkdir(folder, { recursive: true })
  const lock = await takeOwnership(folder)
  const thread = new DatabaseThread(join(folder, "database"))
  try {
    await thread.start(options.onInitialize)
  } catch (error) {
    await lock.release()
    throw new SourceUnavailable(`the embedded database in ${folder} cannot be started: ${messageOf(error)}`, {
      cause: error,
    })
  }
  return new SqlDatabase({
    kind: "embedded",
    schema: defaultSchema,
    connect: async (config) => {
      const client = new Client({ ...config, ...session, stream: () => thread.stream() })
      // An `error` event without a listener ends the process.
      client.on("error", () => undefined)
      await client.connect()
      return client
    },
    connectionsMax: 1,
    statementMs: options.statementMs ?? 10_000,
    // There is one session, so this includes the wait for all other statements, and perhaps for a new thread.
    connectMs: 30_000,
    onFault: options.onFault,
    onRepeat: options.onRepeat,
    onClose: () => close(thread, lock),
  })
}

const session = { user: "postgres", database: "postgres", password: "" }

async function close(thread: DatabaseThread, lock: OwnerLock): Promise<void> {
  await thread.close()
  await lock.release()
}

/** The built worker, wherever this module runs from (see `imports` in package.json). */
const workerFile = () => createRequire(import.meta.url).resolve("#pglite-worker")

/** Whether the database's files are next to the worker. Images for use with PostgreSQL leave out their 15 MB. */
const isInstalled = () => existsSync(join(dirname(workerFile()), "pglite.wasm"))

const closeMs = 5_000

/** Runs the worker and restarts it. */
class DatabaseThread {
  readonly #folder: string
  #worker: Promise<Worker> | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #stream: WorkerStream | undefined
  #receive: ((message: WorkerMessage) => void) | undefined
  #connection = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  async start(onInitialize: (() => void) | undefined): Promise<void> {
    if (!existsSync(join(this.#folder, "PG_VERSION"))) {
      onInitialize?.()
      await unpackDatabase(join(dirname(workerFile()), "database.br"), this.#folder)
    }
    await this.#running()
  }

  /** A new connection. There is only one session, so this ends the previous connection. */
  stream(): WorkerStream {
    if (this.#stream !== undefined) this.#abandon(this.#stream)
    const stream: WorkerStream = new WorkerStream(() => this.#wire(stream))
    this.#stream = stream
    return stream
  }

  async close(): Promise<void> {
    const started = this.#worker
    this.#worker = undefined
    const worker = await started?.catch(() => undefined)
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()))
    worker.postMessage({ kind: "close" })
    const timer = setTimeout(() => void worker.terminate(), closeMs)
    await ended
    clearTimeout(timer)
  }

  async #wire(stream: WorkerStream): Promise<Wire> {
    const worker = await this.#running()
    this.#connection += 1
    const connection = this.#connection
    stream.once("close", () => this.#abandon(stream))
    return {
      open: (receive) =>
        new Promise((resolve, reject) => {
          worker.once("exit", () => {
            const error = new Error("the embedded database's thread ended")
            reject(error)
            stream.destroy(error)
          })
          this.#receive = (message) => {
            if (message.connection !== connection) return
            if (message.kind === "opened") resolve()
            else receive(message.bytes)
          }
          worker.postMessage({ kind: "open", connection })
        }),
      send: (bytes) =>
        worker.postMessage({ kind: "bytes", connection, bytes }, [bytes.buffer as ArrayBuffer]),
    }
  }

  /** Called for a connection that was cut without being ended: its session may be in any state, and the thread may be busy for ever. */
  #abandon(stream: WorkerStream): void {
    if (this.#stream === stream) this.#stream = undefined
    else return
    if (stream.readableEnded) return
    const started = this.#worker
    this.#worker = undefined
    this.#ended = started?.then((worker) => worker.terminate()).catch(() => undefined) ?? this.#ended
    stream.destroy()
  }

  #running(): Promise<Worker> {
    // Never run two threads on one folder.
    const starting = () => startWorker(this.#folder)
    this.#worker ??= this.#ended.then(starting).then((worker) => {
      worker.on("message", (message: WorkerMessage) => this.#receive?.(message))
      worker.once("exit", () => {
        if (this.#worker === running) this.#worker = undefined
      })
      return worker
    })
    const running = this.#worker
    // When a start fails, the next statement tries again.
    running.catch(() => {
      if (this.#worker === running) this.#worker = undefined
    })
    return running
  }
}

type WorkerMessage =
  | { readonly kind: "opened"; readonly connection: number }
  | { readonly kind: "bytes"; readonly connection: number; readonly bytes: Uint8Array }

function startWorker(folder: string): Promise<Worker> {
  // Keep the thread's standard streams: the database's own messages do not belong on our terminal.
  const worker = new Worker(workerFile(), {
    workerData: { folder },
    stdout: true,
    stderr: true,
    execArgv: [],
  })
  return new Promise((resolve, reject) => {
    worker.on("error", reject)
    worker.once("exit", () => reject(new Error("its thread ended")))
    worker.once("message", (message: { kind: string; message?: string }) => {
      if (message.kind === "ready") resolve(worker)
      else reject(new Error(message.message))
    })
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
