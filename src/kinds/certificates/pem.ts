const BLOCK = /-----BEGIN ([^-]+)-----([^-]*)-----END \1-----/g

/** The encoded content alone: line ends, indents and comments between blocks mean nothing. */
export function comparablePEM(pem: string): string {
  const blocks = [...pem.matchAll(BLOCK)].map(([, label, body = '']) => `${label} ${body.replaceAll(/\s/g, '')}`)
  return blocks.length === 0 ? pem.trim() : blocks.join('\n')
}

/**
 * What keeps a text from being the PEM of certificate authorities, with the remedy; undefined when nothing does. Never names the
 * text: a private key put there by mistake must not travel any further.
 */
export function pemProblem(pem: string): string | undefined {
  const labels = [...pem.matchAll(BLOCK)].map(([, label = '']) => label)
  if (pem.includes('PRIVATE KEY'))
    return 'holds a private key, which is never to be uploaded: keep the certificates only'
  if (labels.length === 0)
    return 'holds no PEM block: put -----BEGIN CERTIFICATE----- … -----END CERTIFICATE----- there'
  const other = labels.find((label) => label !== 'CERTIFICATE')
  return other === undefined ? undefined : `holds a ${other} block: keep the certificates only`
}
