import type { FactsOf } from "./facts.ts"
import { contentRead } from "./facts-content.ts"
import { bodyRead, headerOf, type Place, wholeRequest, wholeResponse } from "./places.ts"

type FlowKind =
  | "any-of"
  | "when"
  | "retry"
  | "parallel"
  | "limit-concurrency"
  | "cache-value"
  | "send-request"
  | "content-safety"
  | "authenticate"
  | "set-backend"
  | "forward"

/** Facts of steps that hold others, and of those that reach beyond the request. */
export const flowFacts: { readonly [Kind in FlowKind]: FactsOf<Kind> } = {
  // Whether a caller is known already decides whether other ways are tried.
  "any-of": () => ({
    reads: ["caller", "subscription"],
    writes: ["caller", "subscription"],
    ends: ["refuse"],
  }),
  when: () => ({}),
  retry: () => ({ waits: true, repeats: "again" }),
  parallel: () => ({ waits: true, repeats: "beside" }),
  "limit-concurrency": ({ counter }) => ({
    reads: [`slot:${counter}`],
    leaves: [`slot:${counter}`],
    ends: ["refuse"],
  }),
  "cache-value": ({ key, variable }) => ({
    reads: [`variable:${variable}`, `cache:${typeof key === "string" ? key : "*"}`],
    writes: [`variable:${variable}`],
    leaves: [`cache:${typeof key === "string" ? key : "*"}`],
    waits: true,
  }),
  "send-request": ({ mode, body, variable, ignoreError, wait }) => ({
    reads: [
      "service:*",
      ...contentRead(body),
      ...(mode === "copy" ? (["request.method", "request.header:*"] as const) : []),
      ...(mode === "copy" && body === undefined ? bodyRead("request") : []),
    ],
    writes: variable === undefined ? [] : [`variable:${variable}`],
    leaves: ["service:*"],
    ends: wait && ignoreError !== true ? ["fail"] : mode === "copy" && body === undefined ? ["fail"] : [],
    fits: "narrow",
    ...(wait ? { waits: true } : {}),
  }),
  "content-safety": ({ backend, completions }) => ({
    reads: [`service:${backend}`, ...bodyRead("request")],
    ends: ["refuse"],
    waits: true,
    ...(completions === false ? {} : { late: wholeResponse }),
  }),
  authenticate: ({ authentication, output }) => {
    const field: Place = output === undefined ? headerOf("request", "authorization") : `variable:${output}`
    return {
      writes: [authentication.scheme === "certificate" ? "certificate" : field],
      ends: authentication.scheme === "token" ? ["fail"] : [],
      fits: "header",
      ...(authentication.scheme === "token" ? { waits: true } : {}),
    }
  },
  "set-backend": ({ target }) => ({
    writes: ["backend"],
    ends: ("by" in target && target.strict === true) || "url" in target ? ["fail"] : [],
    ...("url" in target ? { fits: "narrow" } : {}),
  }),
  forward: () => ({
    reads: [...wholeRequest, "backend", "certificate", "service:*"],
    writes: [...wholeResponse, "backend"],
    leaves: ["service:*"],
    ends: ["fail"],
    waits: true,
  }),
}
