import { closes, type FieldRules, type Finding, opens } from "../../analysis/finding.ts"
import { listChanges, same } from "../../analysis/same.ts"
import { textWords } from "../../analysis/words.ts"
import { countText, statement } from "../print.ts"
import type { Fields, StepText } from "../step-text.ts"

/** The service rates each category; a lower threshold refuses more. */
const categories: FieldRules<Fields<"content-safety">>["categories"] = (before, after) => {
  const thresholds = (list: typeof before) => new Map(list.map(({ name, threshold }) => [name, threshold]))
  const [old, next] = [thresholds(before), thresholds(after)]
  const names = [...new Set([...old.keys(), ...next.keys()])]
  return names.flatMap((name): Finding[] => {
    const [was, now] = [old.get(name), next.get(name)]
    if (now === undefined) return [opens(`\`${name}\` is no longer checked`)]
    if (was === undefined) return [closes(`\`${name}\` is now checked`)]
    if (same(was, now)) return []
    const words = `\`${name}\` is refused at severity ${countText(now)} or higher instead of ${countText(was)}`
    return [typeof was === "number" && typeof now === "number" && now < was ? closes(words) : opens(words)]
  })
}

/**
 * Printing and comparison of a step that asks a moderation service about the prompt for a language model. Only policy documents produce it:
 * gateway.conf has no statement for it.
 */
export const contentSafety: StepText<"content-safety"> = {
  print: (step, printing) => {
    printing.refuses(
      "only policy documents can check prompts: keep the document and use it with `policy xml`",
    )
    return statement(
      `content-safety ${step.backend}`,
      step.categories.map(({ name, threshold }) => `category ${name} ${countText(threshold)}`),
      step.levels === "eight" && "levels eight",
      step.blocklists.map((each) => `blocklist ${textWords(each)}`),
      step.shieldPrompt !== false && "shield-prompt",
      step.completions !== false && "completions",
    )
  },
  identities: () => ["content-safety"],
  added: ({ backend }) =>
    closes(`requests that \`${backend}\` finds harmful get 403; if it is unavailable, all requests get 503`),
  removed: ({ backend }) => opens(`\`${backend}\` no longer checks prompts`),
  changed: {
    backend: (before, after) => opens(`\`${after}\` checks prompts instead of \`${before}\``),
    categories,
    levels: (_, after) => opens(`severities now have ${after} levels`),
    blocklists: (before, after) => {
      const { removed, added } = listChanges(before, after)
      return [
        ...(removed.length === 0
          ? []
          : [opens(`terms of ${removed.map((each) => textWords(each)).join(", ")} pass`)]),
        ...(added.length === 0
          ? []
          : [closes(`terms of ${added.map((each) => textWords(each)).join(", ")} are refused`)]),
      ]
    },
    shieldPrompt: (_, after) =>
      after === true ? closes("attacks in prompts are refused") : opens("attacks in prompts may pass"),
    completions: (_, after) =>
      after === true
        ? closes("responses of the model are checked too")
        : opens("responses of the model may not be checked"),
  },
}
