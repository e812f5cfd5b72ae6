import { type IndexedRelation, referenceText } from "../../runtime/model/model-index.ts"
import { rewriteText } from "./rewrite-text.ts"

/** `type#relation`. */
export function relationName({ type, name }: IndexedRelation): string {
  return `${type}#${name}`
}

/** A definition as written, without comments and needless parentheses. */
export function definitionOf({ rewrite, references }: IndexedRelation): string {
  const list = `[${references.map(referenceText).join(", ")}]`
  // A model given as JSON may have definitions that the text language cannot express.
  return rewriteText(rewrite, list) ?? JSON.stringify(rewrite)
}
