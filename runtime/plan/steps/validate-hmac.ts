import * as z from "zod"
import { defineCredential } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { headerOf, type Place } from "../places.ts"
import { constantCount, count, replayCounter } from "../step-values.ts"
import { name, text } from "../text.ts"

const seconds = z.number().int().min(1).max(2_592_000)
const mark = z.string().min(1).max(64)
const unit = z.enum(["seconds", "milliseconds"])

/**
 * A part of what is signed, as the client sent it: the method; the path, the query without `?`, or both (`target`); the host with its port; the
 * timestamp; the bytes of the body, with its codings; a header; or constant text.
 */
const signedPart = z.union([
  z.enum(["method", "path", "query", "target", "host", "timestamp", "body"]),
  z.strictObject({ header: headerName }),
  z.strictObject({ literal: z.string().min(1).max(256) }),
])

/**
 * An HMAC (RFC 2104) over parts of the request. Sets the claim `sub` to `caller`. The header with the signature goes on to the backend.
 *
 * - `secrets`: any of them may have signed. `key`: a secret is its text, or base64 after an optional `whsec_` (Standard Webhooks).
 * - `signature`: the header has one signature after `prefix`, or with `separator` a list in which each entry with the prefix is one.
 * - `timestamp`: Unix time in its own header, or in the list of signatures after a prefix; it may differ by `toleranceSeconds` in both directions.
 * - `replay`: a request with the same signed content, or with `header` the same value of it, is refused for these seconds.
 */
export const validateHmac = defineCredential(
  "validate-hmac",
  {
    caller: z.string().min(1).max(256),
    secrets: z
      .array(z.strictObject({ secret: name }))
      .min(1)
      .max(4),
    key: z.enum(["text", "base64"]),
    algorithm: z.enum(["sha256", "sha384", "sha512"]),
    signature: z.strictObject({
      header: headerName,
      prefix: mark.optional(),
      separator: z.enum([",", ";", " "]).optional(),
      encoding: z.enum(["hex", "base64"]),
    }),
    timestamp: z
      .strictObject({
        from: z.union([z.strictObject({ header: headerName }), z.strictObject({ prefix: mark })]),
        unit,
        toleranceSeconds: seconds,
      })
      .optional(),
    signed: z.array(signedPart).min(1).max(40),
    replay: z.strictObject({ header: headerName.optional(), seconds }).optional(),
    status: count,
    message: text.optional(),
  },
  ({ signature, timestamp, signed, replay, status }) => {
    const own = timestamp !== undefined && "header" in timestamp.from ? [timestamp.from.header] : []
    const others = signed.flatMap((part) =>
      typeof part === "object" && "header" in part ? [part.header] : [],
    )
    const headers = [
      signature.header,
      ...own,
      ...others,
      ...(replay?.header === undefined ? [] : [replay.header]),
    ]
    const guard: Place[] = replay === undefined ? [] : [`counter:${replayCounter}`]
    return {
      shown: { is: "signature", header: signature.header },
      reads: [
        ...headers.map((each) => headerOf("request", each)),
        ...(signed.includes("body") ? (["request.body"] as const) : []),
        ...(timestamp === undefined ? [] : (["clock"] as const)),
        ...guard,
      ],
      writes: ["caller"],
      leaves: guard,
      ends: ["refuse", "fail"],
      statuses: [constantCount(status, 401), ...(replay === undefined ? [] : [409])],
      waits: true,
    }
  },
)
