import { asHttp } from "../../../runtime/plan/http-syntax.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { constantOf, textOf } from "../values.ts"
import { isAddress } from "./address.ts"
import { complete, dynamic, type ElementTable, flags, given, optional, secondsFromOne } from "./row.ts"

/** A backend of gateway.conf by its id, either fixed or computed per request; or a URL. */
function setBackend(use: Use): Used[] | undefined {
  const { host } = use.context
  const id = use.value("backend-id")
  const url = use.value("base-url")
  // Both or neither: which of the two counts would be a guess.
  if (use.has("backend-id") === use.has("base-url"))
    return use.report(
      "SP7008",
      use.at,
      `\`set-backend-service\` needs either \`backend-id\` or \`base-url\`, and has ${use.has("backend-id") ? "both" : "neither"}`,
      "Write one of the two.",
    )
  if (id !== undefined) {
    const constant = constantOf(id)?.trim()
    if (constant !== undefined) {
      const backend = host.backend(constant, id.span)
      return backend === undefined ? undefined : use.step({ kind: "set-backend", target: { backend } })
    }
    const by = textOf(id, host)
    // Every backend of gateway.conf: which one the expression names is known per request.
    const cases = host.backends().map(({ id: value, name }) => ({ value, backend: name }))
    return by === undefined
      ? undefined
      : // `strict`: an unknown id is an error, not the route's own backend.
        use.step({ kind: "set-backend", target: { by, cases, otherwise: null, strict: true } })
  }
  if (url === undefined) return undefined
  const text = textOf(url, host)
  if (text === undefined) return undefined
  // The expression decides the whole URL, as the author wrote it.
  if (typeof text !== "string") return use.step({ kind: "set-backend", target: { url: text, raw: true } })
  const address = asHttp(text)
  if (!isAddress(address, use, url.span)) return undefined
  return use.step({ kind: "set-backend", target: { url: address, raw: false } })
}

/** `forward-request`. The version of HTTP is negotiated, so that attribute has no effect. */
function forwardRequest(use: Use): Used[] | undefined {
  const { place, host } = use.context
  const timeoutMs = timeoutOf(use)
  if (timeoutMs === "wrong") return undefined
  const parts = {
    bufferRequest: use.fixedFlag("buffer-request-body"),
    bufferResponse: use.fixedFlag("buffer-response"),
    failOnStatus: use.fixedFlag("fail-on-error-status-code"),
    followRedirects: use.fixedFlag("follow-redirects"),
  }
  if (!complete(parts)) return undefined
  if (use.has("http-version") && use.constant("http-version") === "2")
    host.report.add(
      "SP7019",
      use.spanOf("http-version"),
      "the gateway negotiates the version of HTTP with the backend (`http2` in its block)",
      {},
    )
  if (use.has("continue-timeout"))
    host.report.add(
      "SP7019",
      use.spanOf("continue-timeout"),
      "the gateway does not wait for `100-continue` of a backend",
      {},
    )
  // Flags with their default are left out, so that the step equals the one of `backend` in gateway.conf.
  const chosen = Object.fromEntries(Object.entries(parts).filter(([, value]) => value))
  return use.step({ kind: "forward", backend: place.backend, ...chosen, ...given("timeoutMs", timeoutMs) })
}

/** Converts the seconds of the document to the milliseconds of the plan. */
function timeoutOf(use: Use): ReturnType<Use["count"]> | "wrong" {
  const name = use.has("timeout-ms") ? "timeout-ms" : "timeout"
  if (!use.has(name)) return undefined
  const value = use.value(name)
  if (value?.kind === "code" && name === "timeout") {
    const { code } = value.code
    // The expression yields seconds. It is multiplied in its own language, so that its type stays.
    const inMs = code.replace([
      { start: 0, end: 0, text: "1000 * (" },
      { start: code.text.length, end: code.text.length, text: ")" },
    ])
    if (value.code.form === "expression") {
      const expression = use.context.host.compile({ ...value.code, code: inMs })
      return expression === undefined ? "wrong" : { expression }
    }
    use.report(
      "SP7010",
      value.span,
      "a timeout built from statements is not supported",
      'Set a variable before, and write `@((int)context.Variables["…"])`.',
    )
    return "wrong"
  }
  const count = use.count(name)
  if (count === undefined) return "wrong"
  if (name === "timeout-ms") return count
  if (typeof count === "number") return count * 1000
  // A named value is read when the plan is loaded, so CEL multiplies it.
  return { expression: { lang: "cel", text: `1000 * ${count.expression.text}`, type: "int" } }
}

export const backend: ElementTable = {
  "set-backend-service": {
    about: "Selects the backend of the request, by its id or by a URL.",
    sections: ["inbound", "backend"],
    attributes: { "base-url": dynamic, "backend-id": dynamic },
    lower: setBackend,
  },
  "forward-request": {
    about: "Sends the request to the backend and waits for the response.",
    sections: ["backend"],
    attributes: {
      timeout: { ...dynamic, whole: secondsFromOne },
      "timeout-ms": { ...dynamic, whole: secondsFromOne },
      "continue-timeout": dynamic,
      "http-version": optional,
      "follow-redirects": flags.off,
      "buffer-request-body": flags.off,
      "buffer-response": flags.off,
      "fail-on-error-status-code": flags.off,
    },
    lower: forwardRequest,
  },
}
