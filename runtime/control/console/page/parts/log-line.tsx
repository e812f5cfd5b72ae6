import type { LoggedRequest } from "../../../api.ts"
import { momentText, sizeText } from "../format.ts"
import { addressOf } from "../router.ts"
import { Facts, type Tone } from "./basic.tsx"

/** How a status looks. 0: the client disconnected. */
export function toneOf(status: number): Tone {
  if (status >= 500 || status === 0) return "bad"
  return status >= 400 ? "warn" : "good"
}

/** Everything that is known about a request. `hasTry`: with a link to the page that tries such a request. */
export function LogLineDetails({ line, hasTry }: { readonly line: LoggedRequest; readonly hasTry: boolean }) {
  const { id, at, method, path, status, ms, route, answeredBy, decision, bytesIn, bytesOut, ...rest } = line
  const facts: (readonly [string, unknown])[] = [
    ["time", momentText(at)],
    ["request id", id],
    ["route", route],
    ...Object.entries(rest).filter(([, value]) => value !== false),
    ["received, sent", `${sizeText(bytesIn)}, ${sizeText(bytesOut)}`],
    ["answered by", answeredBy && `${answeredBy.kind} ${answeredBy.place}`],
    [
      "decision",
      decision &&
        `${decision.user} ${decision.allowed ? "is" : "is not"} ${decision.relation} of ${decision.object}`,
    ],
  ]
  const isRefused = line.problem !== undefined || (answeredBy !== undefined && status >= 400)
  return (
    <div class="details">
      <Facts facts={facts} />
      <p class="actions">
        {isRefused && (
          <a class="button" href={addressOf(["log", id])}>
            Why was it refused?
          </a>
        )}
        {route && (
          <a class="button" href={addressOf(["routes", route])}>
            Route
          </a>
        )}
        {hasTry && (
          <a class="button" href={addressOf(["try"], { method, target: path, sub: line.user })}>
            Try it
          </a>
        )}
      </p>
    </div>
  )
}
