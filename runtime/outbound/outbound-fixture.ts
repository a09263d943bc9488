/** A self-signed certificate for good.example, for tests only; it lasts until 2125. Made with `openssl req -x509 -newkey ec …`. */
export const certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9kylOLxgp1cw+OQz
qUxIVz/tFZDFutqmL8Xu1hEsjoyhRANCAAQ91yuQrjLbkPxVxhD2yZgOxitV9yha
mBRBMEbeCdHn0IRwi3ZDpsd8f1CmgHyH3WlhwydL+X+vwufV6nGRokcB
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBnTCCAUSgAwIBAgIUGGpomHU2wReS883a82qgTgt9uZ4wCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMZ29vZC5leGFtcGxlMCAXDTI2MTEyMTEwNDYzNloYDzIxMjYx
MDI4MTA0NjM2WjAXMRUwEwYDVQQDDAxnb29kLmV4YW1wbGUwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAQ91yuQrjLbkPxVxhD2yZgOxitV9yhamBRBMEbeCdHn0IRw
i3ZDpsd8f1CmgHyH3WlhwydL+X+vwufV6nGRokcBo2wwajAdBgNVHQ4EFgQUMAsX
4Ao9Ezpy+GOihX16YZ978XIwHwYDVR0jBBgwFoAUMAsX4Ao9Ezpy+GOihX16YZ97
8XIwDwYDVR0TAQH/BAUwAwEB/zAXBgNVHREEEDAOggxnb29kLmV4YW1wbGUwCgYI
KoZIzj0EAwIDRwAwRAIgSpYdKx3iHs/HB13vROgthNAKuXG2zs4poUVuoo0NESYC
IHPAe9ADfWPanPC5GbIrCktz+PKFnMxy9etXfZSx+bKF
-----END CERTIFICATE-----`,
};

/** Hosts of a URL that are no public addresses, in every way to write them. */
export const privateHosts = [
  "127.0.0.1",
  "127.1",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "0.0.0.0",
  "0",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "169.254.169.254",
  "[::ffff:169.254.169.254]",
  "10.0.0.1",
  "10.255.255.255",
  "172.16.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "[fc00::1]",
  "[fd12:3456::1]",
  "[fe80::1]",
  "[64:ff9b::7f00:1]",
  "localhost",
  "LOCALHOST.",
] as const;

/** The same where 127.0.0.1 itself is allowed. */
export const otherPrivateHosts = [
  "127.0.0.2",
  "2130706434",
  "0x7f.0.0.2",
  "0177.0.0.2",
  "[::1]",
  "[::ffff:127.0.0.2]",
  "0.0.0.0",
  "169.254.169.254",
  "10.0.0.1",
  "[fc00::1]",
] as const;
