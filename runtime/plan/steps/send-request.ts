import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyRead } from "../places.ts"
import {
  authentication,
  bodyContent,
  contentRead,
  count,
  flag,
  headerLines,
  namedAuthentication,
  variableName,
} from "../step-values.ts"
import { text } from "../text.ts"

/**
 * Sends a separate request. Its response goes to `variable`. If it fails (no response in time), the variable is null with `ignoreError`; otherwise
 * 502/504. `wait` false: the exchange does not wait for it.
 */
export const sendRequest = defineStep(
  "send-request",
  { role: "change", rehearsed: "assume" },
  {
    /** `copy`: starts with the method, headers and body of the request. */
    mode: z.enum(["new", "copy"]),
    url: text.optional(),
    method: text.optional(),
    headers: headerLines,
    media: z.string().max(256).nullable(),
    body: bodyContent.optional(),
    authentication: authentication.optional(),
    timeoutSeconds: count,
    variable: variableName.optional(),
    ignoreError: flag,
    wait: z.boolean(),
  },
  ({ mode, body, authentication, variable, ignoreError, wait }) => ({
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
    names: namedAuthentication(authentication),
    ...(wait ? { waits: true } : {}),
  }),
)
