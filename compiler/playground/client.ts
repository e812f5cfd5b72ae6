import type { TupleKey } from "../../runtime/check/ports.ts"
import { WorkerChannel } from "../../runtime/control/console/page/parts/worker-channel.ts"
import type {
  Analysis,
  GatewayRequest,
  GatewayTestResults,
  GatewayView,
  ProjectTexts,
  RequestAnswer,
  ShownCompletion,
  ShownHover,
  StoreAnswer,
  StoreQuestion,
  WorkerReply,
  WorkerRequest,
} from "./protocol.ts"

const worker = new WorkerChannel<WorkerRequest, WorkerReply>("worker")

/** Opens a project in the worker. @throws Error a fault of the playground */
export async function analyse(texts: ProjectTexts): Promise<Analysis> {
  const reply = await worker.ask({ kind: "open", texts })
  if (reply.kind !== "opened") throw new Error("unexpected reply")
  return reply.analysis
}

/** Asks the engine about the project that was opened last. */
export async function ask(question: StoreQuestion): Promise<StoreAnswer> {
  try {
    const reply = await worker.ask({ kind: "ask", question })
    return reply.kind === "answered" ? reply.answer : { kind: "error", message: "unexpected reply" }
  } catch (error) {
    return { kind: "error", message: (error as Error).message }
  }
}

/** Sends a request through the gateway of the project that was opened last. */
export async function send(request: GatewayRequest): Promise<RequestAnswer> {
  try {
    const reply = await worker.ask({ kind: "send", request })
    return reply.kind === "sent" ? reply.answer : { kind: "error", message: "unexpected reply" }
  } catch (error) {
    return { kind: "error", message: (error as Error).message }
  }
}

/** What requests can be about; undefined: the project has no gateway without errors. @throws Error a fault of the playground */
export async function gatewayView(): Promise<GatewayView | undefined> {
  const reply = await worker.ask({ kind: "gateway" })
  return reply.kind === "gateway" ? reply.view : undefined
}

/** Runs the gateway tests; undefined: the project has no gateway without errors. @throws Error a fault of the playground */
export async function gatewayTestResults(): Promise<GatewayTestResults | undefined> {
  const reply = await worker.ask({ kind: "gateway-tests" })
  return reply.kind === "gateway-tests" ? reply.results : undefined
}

/** The text of a store file with one more tuple; undefined: it has errors, so there is no place for it. */
export async function textWithTuple(text: string, tuple: TupleKey): Promise<string | undefined> {
  const reply = await worker.ask({ kind: "add", text, tuple })
  return reply.kind === "added" ? reply.text : undefined
}

/** What can be written at an offset of a file. */
export async function completionsAt(
  path: string,
  text: string,
  offset: number,
): Promise<readonly ShownCompletion[]> {
  const reply = await worker.ask({ kind: "complete", path, text, offset })
  return reply.kind === "completed" ? reply.items : []
}

/** What is known of the text at an offset of a file. */
export async function hoverAt(path: string, text: string, offset: number): Promise<ShownHover | undefined> {
  const reply = await worker.ask({ kind: "hover", path, text, offset })
  return reply.kind === "hovered" ? reply.hover : undefined
}
