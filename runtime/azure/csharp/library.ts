import { declareArray } from "./library/array.ts"
import { declareBits } from "./library/bits.ts"
import { declareChar } from "./library/char.ts"
import { declareCollections } from "./library/collection-types.ts"
import { declareContext } from "./library/context.ts"
import { declareConvert } from "./library/convert-type.ts"
import { declareCrypto } from "./library/crypto.ts"
import { declareExceptions } from "./library/exceptions.ts"
import { declareGuid } from "./library/guid.ts"
import { declareJson } from "./library/json.ts"
import { declareTokens } from "./library/jwt.ts"
import { declareLinq } from "./library/linq.ts"
import { declareMath } from "./library/math.ts"
import { declareMessages } from "./library/messages.ts"
import { declareNetwork } from "./library/network.ts"
import { declareNumbers } from "./library/number.ts"
import { declareObject } from "./library/object.ts"
import { declareRegex } from "./library/regex.ts"
import { declareString } from "./library/string.ts"
import { declareStringComparison } from "./library/string-comparison.ts"
import { declareText } from "./library/text-types.ts"
import { declareTime } from "./library/time-types.ts"
import { declareTimeZones } from "./library/time-zones.ts"
import { declareWeb } from "./library/web.ts"
import { declareXml } from "./library/xml.ts"

let isLoaded = false

/** Declares every type that a program can use. Once per process, and never in a process without C#. */
export function loadLibrary(): void {
  if (isLoaded) return
  isLoaded = true
  for (const declare of [
    declareObject,
    declareNumbers,
    declareChar,
    declareString,
    declareStringComparison,
    declareLinq,
    declareCollections,
    declareArray,
    declareConvert,
    declareMath,
    declareBits,
    declareTime,
    declareTimeZones,
    declareGuid,
    declareText,
    declareRegex,
    declareWeb,
    declareNetwork,
    declareJson,
    declareXml,
    declareCrypto,
    declareExceptions,
    declareTokens,
    declareMessages,
    declareContext,
  ])
    declare()
}
