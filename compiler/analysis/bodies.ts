import { breaking, type Finding, opens } from "./finding.ts"
import { otherRequestBody } from "./seen-by-backend.ts"

/** Which message a body is of. */
export type MessageKind = "request" | "response"

/** What it means that a body is converted, or changed in part. */
export function changedBody(message: MessageKind): Finding {
  return message === "request"
    ? otherRequestBody("the backend gets a changed body")
    : breaking("callers get a changed body")
}

/** What it means that a body is not replaced, converted or changed any more. */
export function ownBody(message: MessageKind): Finding {
  return message === "request"
    ? opens("the caller's own body reaches the backend")
    : opens("callers see the backend's own body")
}

/** Who sees the body that is different. */
export function otherBody(message: MessageKind, how: string): Finding {
  return message === "request" ? otherRequestBody(`the backend gets ${how}`) : breaking(`callers get ${how}`)
}

/** What it means that a step is about the other message. */
export const nowAboutMessage = (_: unknown, after: MessageKind): Finding =>
  breaking(`it is the body of the ${after} now`)
