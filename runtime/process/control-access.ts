import { ListenerAccess, type ListenerAccessSettings } from "./listener-access.ts"

/** The certificates of the control listeners across plans. */
export class ControlAccess extends ListenerAccess<undefined> {
  constructor(settings: ListenerAccessSettings) {
    super(settings, {
      name: "control",
      issuers: () => [],
      isTraced: () => false,
      keys: () => [],
      callers: () => undefined,
    })
  }
}
