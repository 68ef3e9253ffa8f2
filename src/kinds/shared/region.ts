import { text } from '../../schema/define.ts'

/**
 * A region of the service (`management-api.md § Domains, addresses, ingress`). A pattern, not a list: the service adds
 * regions, and the API refuses a region that it does not know.
 */
export function region(description: string) {
  return text({
    description: `${description} For example us, eu or ap; the API refuses unknown regions.`,
    maxLength: 32,
    mustBe: 'a region in lower case, such as us, eu or ap',
    pattern: '^[a-z]{2,8}(-[a-z0-9]+)*$',
  })
}
