/** Size limits of a model. */
export interface ModelLimits {
  /** Type definitions in a model. */
  readonly typesMax: number
  /** Bytes of the model in OpenFGA's protobuf encoding, as its server measures. */
  readonly bytesMax: number
  /** Conditions in a model. */
  readonly conditionsMax: number
  /** Parameters of a condition. */
  readonly parametersMax: number
  /** Bytes of a condition's expression in UTF-8. */
  readonly expressionBytesMax: number
  /** Nested operators in one relation. OpenFGA has no such limit. Here it makes recursion over the model safe. */
  readonly depthMax: number
}

/** OpenFGA's defaults (`--max-types-per-authorization-model`, `--max-authorization-model-size-in-bytes`, rules of its protobuf messages). */
export const modelLimits: ModelLimits = {
  typesMax: 100,
  bytesMax: 256 * 1024,
  conditionsMax: 25,
  parametersMax: 25,
  expressionBytesMax: 512,
  depthMax: 64,
}
