import { about } from "./about.ts"

/** The texts that a plan can replace by `texts`, for other words or another language. */
const defaults = {
  "nav.apis": "APIs",
  "nav.products": "Products",
  "nav.changelog": "Changelog",
  "nav.subscriptions": "My subscriptions",
  "sign-in": "Sign in",
  "sign-out": "Sign out",
  "apis.about": "What you can call",
  "apis.none": "No API is published yet",
  "products.about": "Subscribe to a product to get keys for its APIs",
  "products.none": "No product can be subscribed here",
  "changelog.about": "What changed for callers, newest first",
  "changelog.ends": "Announced ends",
  "changelog.none": "Nothing has changed yet",
  "subscriptions.about": "Your keys, and what you call with them",
  "subscriptions.none": "You have no subscription yet",
  subscribe: "Subscribe",
  "try-it": "Try it",
} as const

/** A key of a text. */
export type TextKey = keyof typeof defaults

/** A text of the pages, as the plan has it. */
export function textOf(key: TextKey): string {
  return about.value?.texts[key] ?? defaults[key]
}
