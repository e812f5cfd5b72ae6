import type { ModelDocument, Name } from "./ast.ts"
import type { ModelMistakes } from "./mistakes.ts"

/**
 * Reports duplicate names that the model's JSON could not hold both: relations, conditions, parameters, extensions. `modular`: the file is
 * part of a modular model, so it may extend types even if its first line is not a module header.
 */
export function checkRepetitions(
  { header, types, conditions }: ModelDocument,
  mistakes: ModelMistakes,
  modular = header?.kind === "module",
): void {
  const extended: Name[] = []
  for (const type of types) {
    const relations = type.relations.map((each) => each.name)
    forEachRepeated(relations, (again, first) => {
      const detail = `\`${again.text}\` is already defined in \`${type.name.text}\``
      mistakes.add("SP4028", again.span, detail, {
        related: [{ span: first.span, message: "defined here first" }],
      })
    })
    if (!type.extend) continue
    if (modular) extended.push(type.name)
    else mistakes.add("SP4018", type.name.span, "extend can only be used in a modular model")
  }
  forEachRepeated(extended, (again, first) => {
    const detail = `\`${again.text}\` is already extended in file`
    mistakes.add("SP4033", again.span, detail, {
      related: [{ span: first.span, message: "extended here first" }],
    })
  })
  const names = conditions.map((each) => each.name)
  forEachRepeated(names, (again, first) => {
    const detail = `condition \`${again.text}\` is already defined in the model`
    mistakes.add("SP4029", again.span, detail, {
      related: [{ span: first.span, message: "defined here first" }],
    })
  })
  for (const { name, parameters } of conditions) {
    const own = parameters.map((each) => each.name)
    forEachRepeated(own, (again, first) => {
      const detail = `parameter \`${again.text}\` is already defined in the condition \`${name.text}\``
      mistakes.add("SP4030", again.span, detail, {
        related: [{ span: first.span, message: "defined here first" }],
      })
    })
  }
}

function forEachRepeated(names: readonly Name[], report: (again: Name, first: Name) => void): void {
  const known = new Map<string, Name>()
  for (const name of names) {
    const first = known.get(name.text)
    if (first === undefined) known.set(name.text, name)
    else report(name, first)
  }
}
