import type { EvaluationOptions } from "../../runtime/check/evaluate/evaluation.ts"
import { Graph } from "../../runtime/check/graph/graph.ts"
import { packRows, type TupleKey } from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"

/** A whole graph of these tuples, without a store behind it. */
export function graphOf(tuples: Iterable<TupleKey>): Graph {
  const graph = new Graph()
  for (const tuple of tuples) graph.loadRows(packRows([rowOf(tuple)]), 0, 1)
  for (const _ of graph.finishLoad());
  return graph
}

/** No limit of depth, and steps enough for shapes that are not hostile. */
export const unlimited: EvaluationOptions = {
  depthMax: Number.POSITIVE_INFINITY,
  walkSteps: 256,
  stepsMax: 20_000_000,
  stepsPerLook: 128,
  partialConditions: false,
}
