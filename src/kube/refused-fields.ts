/** The beginning of what the chart's admission policy says of fields that the operator may not write. */
export const REFUSED_FIELDS = 'the operator of Culvert does not write '
