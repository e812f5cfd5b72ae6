import type { Report } from "../../core/diagnostic.ts"
import type { Argument } from "../ast.ts"
import type { Slot, SlotKind } from "../schema/row.ts"
import { readAddress, readNetwork, readNetworkOrRange } from "./addresses.ts"
import {
  readChoice,
  readConstant,
  readHeaderName,
  readHost,
  readLimitKey,
  readMethod,
  readName,
  readQueryName,
  readValueName,
  readWordOrConstant,
} from "./names.ts"
import { readFile, readOutside } from "./outside.ts"
import { readPath } from "./path.ts"
import {
  readCount,
  readCurrency,
  readDate,
  readDecimal,
  readDuration,
  readDurationOrNone,
  readPercentage,
  readSize,
  readStatus,
  readStatusOrClass,
} from "./quantities.ts"

type Read = (argument: never, slot: Slot, report: Report) => unknown

/** The value is the argument itself. It is read when all declarations are known. */
const itself: Read = (argument: Argument) => argument

/** How an argument of each kind becomes a value. A new kind without a reader does not compile. */
const readers: { readonly [Kind in SlotKind]: Read } = {
  name: readName,
  "value-name": readValueName,
  reference: itself,
  scope: itself,
  duration: readDuration,
  "duration-or-none": readDurationOrNone,
  size: readSize,
  count: readCount,
  date: readDate,
  decimal: readDecimal,
  percentage: readPercentage,
  currency: readCurrency,
  address: readAddress,
  network: readNetwork,
  "network-or-range": readNetworkOrRange,
  method: readMethod,
  host: readHost,
  quoted: itself,
  status: readStatus,
  "status-or-class": readStatusOrClass,
  choice: readChoice,
  data: itself,
  claim: readWordOrConstant,
  "limit-key": readLimitKey,
  relation: itself,
  url: itself,
  "load-text": itself,
  text: itself,
  constant: readConstant,
  "header-name": readHeaderName,
  "query-name": readQueryName,
  path: readPath,
  condition: itself,
  expression: itself,
  file: readFile,
  outside: readOutside,
  equals: itself,
}

/**
 * The value of an argument in its slot. Returns undefined and reports when the literal is invalid. The pattern has already checked the
 * form.
 */
export function readArgument(slot: Slot, argument: Argument, report: Report): unknown {
  return readers[slot.kind](argument as never, slot, report)
}
