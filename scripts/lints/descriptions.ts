import { type Lint, placesOf } from './lint.ts'

const citation = 'management-api.md'

/** The texts of `kubectl explain` and of the apiserver's messages cite no file: their readers do not have it. */
export const noCitations: Lint = (kinds) =>
  placesOf(kinds).flatMap(({ place, node }) => {
    const messages = (node['x-kubernetes-validations'] ?? []).map(({ message }) => message)
    const cites = [node.description ?? '', ...messages].some((text) => text.includes(citation))
    return cites ? [{ place, problem: `cites ${citation}: say it in words, and cite in a comment of the source` }] : []
  })
