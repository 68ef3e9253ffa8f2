import type { UnlistableError } from '../../api/list-refusals.ts'

/** What to do about a collection that cannot be listed: the key may lack a permission, or the server the collection. */
export function closedRemedy({ collection: { path }, status }: UnlistableError): string {
  return status === 403
    ? `let the API key list ${path}`
    : `check that the API at spec.baseURL of the account has ${path}`
}

/** What an account's condition says about its closed collections. */
export function closedText(refusals: readonly UnlistableError[]): string {
  const names = refusals.map(({ collection, status }) => `${collection.path} (${status})`).join(', ')
  const remedies = refusals.map(closedRemedy).join('; ')
  return `the API refuses to list ${names}, and the resources there wait: ${remedies}. It is tried again`
}
