import { DateTime } from "../date-time.ts"
import { CsException } from "../errors.ts"
import { parseJson } from "../json-text.ts"
import type { JToken } from "../json-tree.ts"
import { readDateTime } from "./time-types.ts"

/** Parses JSON like Newtonsoft. @throws JsonReaderException */
export function readJson(text: string): JToken {
  return parseJson(text, (date) => {
    const read = readDateTime(date)
    // `Z` makes a UTC time. An offset makes a local time, which is UTC here but written with its offset.
    return date.endsWith("Z") ? new DateTime(read.ticks, "utc") : read
  })
}

/** Reads JSON of which the root must have one type. Otherwise it throws with Newtonsoft's message. */
export function readAs<T extends JToken>(
  text: string,
  type: abstract new (...values: never[]) => T,
  name: string,
): T {
  const token = readJson(text)
  if (!(token instanceof type))
    throw new CsException(
      "JsonReaderException",
      `Error reading J${name} from JsonReader. Current JsonReader item is not a ${name.toLowerCase()}: ${token.kind}. Path '', line 1, position 1.`,
    )
  return token
}
