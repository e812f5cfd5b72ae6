import { byFirstWord, type StatementDefinition, type StatementForm } from "../step-text.ts"
import { getForm } from "../steps/cache-get.ts"
import { lookupForm } from "../steps/cache-lookup.ts"
import { removeForm } from "../steps/cache-remove.ts"
import { setForm } from "../steps/cache-set.ts"
import { storeForm } from "../steps/cache-store.ts"
import { valueForm } from "../steps/cache-value.ts"
import type { StepBlock } from "./block-name.ts"

/** In `inbound` and `outbound` also the two halves of `cache response`, each in its place. */
const halves: Readonly<Record<StepBlock, readonly StatementForm[]>> = {
  inbound: [lookupForm],
  outbound: [storeForm],
  "on-error": [],
}

const halvesDocs: Readonly<Record<StepBlock, string>> = {
  inbound: " `lookup` responds with what `cache store` in `outbound` stored for the same request.",
  outbound: " `store` stores the response as it is at this point, for `cache lookup` in `inbound`.",
  "on-error": "",
}

/** `cache get|set|remove|value|lookup|store …` */
export function cache(block: StepBlock): StatementDefinition {
  const forms = { get: getForm, set: setForm, remove: removeForm, value: valueForm(block) }
  return {
    row: {
      keyword: "cache",
      several: true,
      forms: [...halves[block], ...Object.values(forms)].map(({ form }) => form),
      docs: `Reads, stores or removes a value. On a miss, \`value\` computes it with the statements of its block, once for all requests that wait for it. A time may be an expression: a \`duration\`, or seconds as an \`int\`.${halvesDocs[block]}`,
      example: 'cache get rates "rates" default ({})',
    },
    lower: byFirstWord({ lookup: lookupForm, store: storeForm, ...forms }),
  }
}
