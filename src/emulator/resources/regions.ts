/** Region identifiers (`management-api.md § Domains, addresses, ingress`). */
export const REGIONS = ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'] as const
