import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { answerFields, headerOf } from "../places.ts"
import { text } from "../text.ts"

/** Cross-origin resource sharing (Fetch standard). `origins` `["*"]`: any. On a preflight (OPTIONS with Access-Control-Request-Method) nothing else runs. */
export const cors = defineStep(
  "cors",
  { role: "share", rehearsed: "run" },
  {
    origins: z.array(text).min(1).max(1000),
    methods: z.array(z.string()).max(50),
    headers: z.array(z.string()).max(200),
    expose: z.array(z.string()).max(200),
    credentials: z.boolean(),
    maxAgeSeconds: z.number().int().min(0).max(2_147_483_647),
    /** A preflight that matches nothing ends here with an empty 200 instead of going to the backend. */
    terminateUnmatched: z.boolean(),
  },
  ({ credentials, expose }) => ({
    reads: ["origin", "access-control-request-method", "access-control-request-headers"].map((name) =>
      headerOf("request", name),
    ),
    // In outbound it removes the backend's values.
    writes: [
      "access-control-allow-origin",
      "access-control-allow-credentials",
      "access-control-allow-methods",
      "access-control-allow-headers",
      "access-control-expose-headers",
      "access-control-max-age",
    ].map((name) => headerOf("response", name)),
    leaves: answerFields(
      "vary",
      "access-control-allow-origin",
      credentials ? "access-control-allow-credentials" : undefined,
      expose.length > 0 ? "access-control-expose-headers" : undefined,
    ),
    ends: ["answer"],
  }),
)
