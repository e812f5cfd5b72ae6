import { type IndexedRelation, referenceText } from "../../runtime/model/model-index.ts"
import { rewriteText } from "./rewrite-text.ts"

/** `type#relation`. */
export function relationName({ type, name }: IndexedRelation): string {
  return `${type}#${name}`
}

/** A definition as it is written, but for comments and needless parentheses. */
export function definitionOf({ rewrite, references }: IndexedRelation): string {
  const list = `[${references.map(referenceText).join(", ")}]`
  // A model that came as JSON may have definitions that text has no words for.
  return rewriteText(rewrite, list) ?? JSON.stringify(rewrite)
}
