/** Regions of the service (`management-api.md § Domains, addresses, ingress`). */
export const REGIONS = ['au', 'eu', 'ap', 'us', 'jp', 'in', 'sa'] as const
