/**
 * Parts of a model whose text could not be parsed: they exist, but their content is unknown. No other finding may depend on them, so that one mistake is
 * not reported many times.
 */
export interface BrokenParts {
  /** `type#relation` of relations whose definition is unknown. */
  readonly relations: ReadonlySet<string>
  /** Conditions whose parameters or expression are unknown. */
  readonly conditions: ReadonlySet<string>
  /** Whether there are types whose name is unknown: any name may be one of them. */
  readonly types: boolean
}
