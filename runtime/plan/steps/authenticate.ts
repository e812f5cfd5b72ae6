import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { headerOf, type Place } from "../places.ts"
import { authentication, namedAuthentication, variableName } from "../step-values.ts"

/** Authenticates the request to the backend: by its Authorization field, or by the certificate of its connection. */
export const authenticate = defineStep(
  "authenticate",
  { role: "change", rehearsed: "assume" },
  {
    authentication,
    /** Stores a token in this variable instead of Authorization, as text or as an object with `accessToken`. */
    output: variableName.optional(),
    outputAs: z.literal("object").optional(),
  },
  ({ authentication, output }) => {
    const field: Place = output === undefined ? headerOf("request", "authorization") : `variable:${output}`
    return {
      writes: [authentication.scheme === "certificate" ? "certificate" : field],
      ends: authentication.scheme === "token" ? ["fail"] : [],
      fits: "header",
      names: namedAuthentication(authentication),
      ...(authentication.scheme === "token" ? { waits: true } : {}),
    }
  },
)
