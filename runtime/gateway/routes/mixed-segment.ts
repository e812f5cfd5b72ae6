import {
  compareSegments,
  firstReading,
  lastReading,
  type SegmentTemplate,
  shapeOfSegment,
} from "../../plan/segment-template.ts"
import { decodeSegment } from "../../policies/messages/canonical-path.ts"
import { foldedSegment } from "./folded-segment.ts"

/**
 * A segment with literals and parameters: `{id}:cancel`, `{from}-{to}`. It is compared with the decoded segment of a request, so that a literal never
 * splits a percent-encoding; parameters must not be empty.
 */
export class MixedSegment {
  readonly shape: string
  readonly names: readonly string[]
  readonly #template: SegmentTemplate
  readonly #literals: readonly string[]
  readonly #folded: readonly string[]

  /** `literals` are canonical. */
  constructor(template: SegmentTemplate) {
    this.shape = shapeOfSegment(template)
    this.names = template.names
    this.#template = template
    this.#literals = template.literals.map(decodeSegment)
    this.#folded = template.literals.map(foldedSegment)
  }

  /** Sort order: negative when this segment comes first. The shape only decides between segments that the compiler does not allow side by side. */
  compare(other: MixedSegment): number {
    const order = compareSegments(this.#template, other.#template)
    if (order !== 0 || this.shape === other.shape) return order
    return this.shape < other.shape ? -1 : 1
  }

  fits(decoded: string): boolean {
    return firstReading(this.#literals, decoded) !== undefined
  }

  /** Whether a server that ignores case, or accepts empty values, would match the segment. */
  resembles(folded: string): boolean {
    return firstReading(this.#folded, folded, 0) !== undefined
  }

  /**
   * The values of a matching segment, in the order of the names. Undefined when other values are possible: the text between two parameters occurs
   * more than once, possibly in another case, and the backend might split the segment elsewhere.
   */
  valuesOf(segment: string): readonly string[] | undefined {
    const values = onlyReading(this.#literals, decodeSegment(segment))
    if (values === undefined || values.length === 1) return values
    return onlyReading(this.#folded, foldedSegment(segment)) === undefined ? undefined : values
  }
}

function onlyReading(literals: readonly string[], text: string): readonly string[] | undefined {
  const first = firstReading(literals, text)
  if (first === undefined || first.length === 1) return first
  const last = lastReading(literals, text)
  return last?.every((value, at) => value === first[at]) === true ? first : undefined
}
