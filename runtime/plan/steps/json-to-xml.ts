import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { message } from "../step-values.ts"
import { conversionFacts } from "./xml-to-json.ts"

/** Converts the body from JSON to XML. */
export const jsonToXml = defineStep(
  "json-to-xml",
  { role: "change", rehearsed: "run" },
  {
    message,
    apply: z.enum(["always", "content-type"]),
    considerAccept: z.boolean(),
    parseDates: z.boolean(),
    namespaceSeparator: z.string().length(1),
    namespacePrefix: z.string().max(64).optional(),
    attributeBlock: z.string().max(64).optional(),
  },
  conversionFacts,
)
