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
