import { text } from '../../schema/define.ts'

/**
 * A region of the service (`management-api.md § Domains, addresses, ingress`). A pattern and no list: regions are added there, and the API refuses
 * one that it does not know.
 */
export function region(description: string) {
  return text({
    description: `${description} Such as us, eu or ap; the API refuses a region that it does not know.`,
    maxLength: 32,
    pattern: '^[a-z]{2,8}(-[a-z0-9]+)*$',
  })
}
