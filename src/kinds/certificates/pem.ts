const BLOCK = /-----BEGIN ([^-]+)-----([^-]*)-----END \1-----/g

/** Only the encoded content: line ends, indents and comments between blocks have no meaning. */
export function comparablePEM(pem: string): string {
  const blocks = [...pem.matchAll(BLOCK)].map(([, label, body = '']) => `${label} ${body.replaceAll(/\s/g, '')}`)
  return blocks.length === 0 ? pem.trim() : blocks.join('\n')
}

/**
 * Why a text is not the PEM of certificate authorities, with the remedy; undefined if it is. Never quotes the text: a
 * private key put there by mistake must not spread.
 */
export function pemProblem(pem: string): string | undefined {
  const labels = [...pem.matchAll(BLOCK)].map(([, label = '']) => label)
  if (pem.includes('PRIVATE KEY'))
    return 'contains a private key, which must never be uploaded: keep only the certificates'
  if (labels.length === 0)
    return 'contains no PEM block: use the form -----BEGIN CERTIFICATE----- … -----END CERTIFICATE-----'
  const other = labels.find((label) => label !== 'CERTIFICATE')
  return other === undefined ? undefined : `holds a ${other} block: keep the certificates only`
}
