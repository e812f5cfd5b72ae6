import { signal } from "@preact/signals"
import { get } from "../../control/console/page/client.ts"
import type { PortalAnswer } from "../api.ts"

/** What every page needs: title, sign-in, person. Undefined: not read yet. */
export const about = signal<PortalAnswer | undefined>(undefined)

/** Reads it, and sets title and style sheet of the plan. Rejects with `CallFailure`. */
export async function loadAbout(): Promise<void> {
  const found = await get<PortalAnswer>("/api/portal")
  about.value = found
  document.title = found.title
  if (found.style === null || document.querySelector("link[data-plan]") !== null) return
  const link = document.createElement("link")
  link.rel = "stylesheet"
  link.href = found.style
  link.dataset["plan"] = ""
  document.head.append(link)
}
