import type {
  Analysis,
  ProjectTexts,
  StoreAnswer,
  StoreQuestion,
  WorkerReply,
  WorkerRequest,
} from "./protocol.ts"

/** An address of the page's own files, as index.html names it. */
export function addressOf(name: string): string {
  const content = document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? ""
  return new URL(content, document.baseURI).href
}

interface TrustedUrls {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

/** The content policy allows script addresses of this policy only. Not every browser has them. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedUrls }
  return (
    trustedTypes?.createPolicy("sallyport", { createScriptURL: (each) => each }).createScriptURL(url) ?? url
  )
}

let worker: Worker | undefined
let count = 0
const waiting = new Map<number, (reply: WorkerReply) => void>()

/** The worker is started for the first project, so that the start page loads quickly. */
function started(): Worker {
  if (worker !== undefined) return worker
  worker = new Worker(trusted(addressOf("worker")), { type: "module" })
  worker.addEventListener("message", ({ data }: MessageEvent<WorkerReply>) => {
    waiting.get(data.number)?.(data)
    waiting.delete(data.number)
  })
  return worker
}

function send(asked: WorkerRequest): Promise<WorkerReply> {
  count += 1
  const number = count
  return new Promise((resolve) => {
    waiting.set(number, resolve)
    started().postMessage({ ...asked, number })
  })
}

/** Opens a project in the worker. @throws Error a fault of the playground */
export async function analyse(texts: ProjectTexts): Promise<Analysis> {
  const reply = await send({ kind: "open", texts })
  if (reply.kind === "opened") return reply.analysis
  throw new Error(reply.kind === "failed" ? reply.message : "unexpected reply")
}

/** Asks the engine about the project that was opened last. */
export async function ask(question: StoreQuestion): Promise<StoreAnswer> {
  const reply = await send({ kind: "ask", question })
  if (reply.kind === "answered") return reply.answer
  return { kind: "error", message: reply.kind === "failed" ? reply.message : "unexpected reply" }
}
