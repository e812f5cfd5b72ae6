import { brotliDecompressSync } from "node:zlib"
import { createFileRegistry, type FileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf"
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt"

/**
 * Descriptors of the services, as the protobuf compiler writes them: a FileDescriptorSet, compressed by Brotli, in Base64.
 *
 * Sources, all under the Apache License 2.0: `openfga.v1` of github.com/openfga/api/proto v0.0.0-20260319214821-f153694bfc20 (the OpenFGA Authors);
 * `grpc.health.v1`, `grpc.reflection.v1` and `grpc.reflection.v1alpha` of google.golang.org/grpc v1.64.1 (the gRPC Authors). Options were
 * removed, with the files they need: they hold documentation, HTTP paths and rules for generated code, which the API checks itself.
 */
const packed =
  "GwdbUZRx0vpB9HQgR9yK29JDOFSnmQKiBoV20DxyWRzr5CR+w1j2fvzrdste5F76CODHvfDNbwDaFhrg9gGs5eU2aKzJ6cODbK2YFuKy/n9r/F" +
  "bG3h1/s/rVS3KodrrtT5g2MqFqqxxKoxEa24/92Pbkmymq3iiZ1giRzBGK+MS4vK9OIJOgQWhMcIQcdwtpVXVrMvyXtjJIVS9SdfijQ+0BhzoC" +
  "273Oe0lzBDNGePrW9qgf25sTndszXFsjeqNWWgdqbqFerI4R2BCZWrQ8hMvh7nR0Hbqsh5CI0ucjGikWxMfBuTagozWYVApUmsRXxd+rWl5wwB" +
  "4vlU65aqI+o3Oq7prGfP+//7yEIK0JBQ9IrmYASdwQwgP+B0WK2EBS61lRFyQ6hFRe57byuK64uqLz+DlK4743SXoKqPgheLbdTvjLsFZmc6Nt" +
  "w9uzX91o23C3PC6gD3+2nKcpqFeYVZqoHP1zGda8Z1sLwGcLqF/O3uTyJ8+RdtsEbMC/waDNJf5lWGOP7h1EZMgUfz/jz3jbgLysX7MOdv0Rfq" +
  "2dXZHeIU1Qk90IlWTHhyYkYLGbxHjfRXWPFHozzHGqK1JwsAaatf70rSrVGw/QU6Sccpf44XHpPSEHWM1EBr7KOc2K3+hcntksISdlBPIy5ROq" +
  "xxsPiEIWVpC9ee7Zb1gVRLtoS4FgInIUOSxTO7YjXHsFG2JjiA5uPrSr25kcUUX70H7pNvCjzUpG/ZPNO6SL1jCu4aA7GFmYS+08rsdCFiNv73" +
  "0pLch9UdQTv3TbeMaWmKl3TSq7nZbMFUTBapFXV7d/TRS4flbTAWpm82J3i70ne6aF6DK9f24iSH26bYkgrdyzvk1G53Uv/tVtKKnx48N1U5Je" +
  "7Pxzt/4ZR4UQfp232uW8Znc/HTUfCnON4eF/R4VvnirYKScop8IbmPmP/wcEuaLxInSaTKShenmVmDBSedHT+RlDk/xDepG69e4YgKJMa24lLF" +
  "64oRZs8eTmjhUyClQ3pJFjwtKQ6uVyjKK6Pf7YtmlEALvuL0+6x4+R8GO934QnQMhMiIl4RcLyqE0faPTxM+Ym44QffnFoygjDjihgTuuDkcTP" +
  "lErB81yh8w4X2QQCQeuM50kKrlwoO9CGF6ffNVQxwzAcvlEenUeWriaGbGuaGiqiAaoAMEBjvoRMxwZ8Armh5ebd5YlqkMLXWbM6VnshWNRi5K" +
  "4Fnu5k+2oUJGNmdhqn9A0wvB6go3BxSDYWim2xNm2UvICNCo9XqccKETHeCIGSsiRXYsAPaovFLpRseK6THyv/h0gQMXy+K5l5kUe/VJcg0Zjq" +
  "cpk2Pv5ybSEnw9zC3+Vhqk9KKCG/kBJG5AZR1dhsvUgoYGnINh7UffmZRca81uuAjv6HoqYapwSE+Txy5NjWan0TlyIzMtrsFMwuFcPC/ZA4UA" +
  "i88scGU4KcT56pNWZn32YeWj2BndQXQvuH5Al5G+MRYrXHqAIFWUy6ifQhrcaFSiBDMV4hURK8LsQq/lzEQ5JyvLq88fHSorFESiB0AHXfz5cJ" +
  "GQzv/EBu9huzsAwlrMuh6hTYOo3clQrh1GPrmaPFoXdRDyZWI7Koz6z8qtj8ca0SdCb3ChbP2gkyCuyCBuWW/LCq4/FQXN/soS7+KBtncRwhH0" +
  "wYRODt+6nFQEncERTpvEP/0OmpEskvpzUnNNKbB7eWD6aOjAXcbxc9MFVF0UcYUATL5TskyisM9X4aRvoc669kTEP+yrpI2+4zT13/8lcSgoF1" +
  "my/bGDC+SE4C74CLhjLhj76wPjWL9IsMVD4vL3SaBylmgZKjy9HX6INXBuFIlMO0HEnAPKUhMVGEOPX3REDetYIVhR7ub8HvoQoTfODf0z086h" +
  "AEz/9A/7iSJkxJz+rPKD6EFv0FbA8XUQu5TaRTf6Xw34sKM/jbf993/uD3oMOsEkL3YGEIJr4XcB03BPeRYAigsGh7+luIL2OnI9/4344NpdXy" +
  "4uowTe+NIhvnhMmP2ik46pT02VghSUKTgmUv+PIXTrNyHQhmsah3wdaqPc5R2vhenBoda2/D41ycmKIY3tJtF7U/oB9CnVJibsQWYWIk0KEUHK" +
  "6wdp6cmY1iUVDC7Ex0QbXNM+Vwy+uOvjfcpT7X7mP0XzQbjqP1NbRFRDNNd0aUxsBTkiuvRuH8pHzx8pqpi4l2bzYLm8aT0c4k/xdXesTjQFsL" +
  "XpSiOtajyPu8VBPWsuqjdLaNKCvqSb1QOf6p6U3yujUYrYc8lN6fv+yqFanKvOUrfUieFB6VzvX59Lnjti080GU/5oYS+A+lL8nzui8vtMf/RP" +
  "rXPCU2Wtct6dWGUXTL17+TntzB34O48BYNQwxoT0vNbgD9/9BzDBvAPL1N/F3VGsed1WprD5FDfdmVKVPMnrSrVFVfStGXiJJLOSN11eFeTgmy" +
  "Mb9qSVdd9rwK/VlFjyrsSWumSt9DVJC+orXZiPd8cqpffLDWmu0uFfJNu35RdAmo9UtXp9u0dh1L6Ht1kHcFZCXk/uKdTSPDUuP9xnoTylSHKc" +
  "U2Puda331A/TUKWZKi035XQq+ExFn14hfS6ctQyVSsTX48sjZiYATOcMeFcanh1XPDNJYXsjNqTjTa+juwPjiTwCWwnns708MhzEwe5MwaObMF" +
  "gniNSinJdmf+LgcHTPjDLEEEz+iANdRf1P6zQnM2jYzR8LDiEY/KbOCzi53lWNZSsFK4Giau5whisPcIqY9qaL+yLw3LgRice2k1qgY0f/lqrW" +
  "WuyQjkc2UpQfHY/bqOWlv+E+LeKpY0UoEZROfD5+6kBKt7AhWZzyMJbB5Sc76YBFV/Qoen54ZGGOfV8ogVjLLnvtNDhUUhzmdsLdcpJmXG/SZa" +
  "giWVhvur8PEwNCj5/ItRxmkiOsCautV1J6nOcRSUTPgC3kjKkMHkYEdobC3Map7WD5k6Q7sHtknzV4BoGqa6y8vHMjLsiBv9aku7FIkoUzxo0G" +
  "o966jAddl0LtRxGUDqivLCR2MT9FGJxHqMBC1xgGY4iN1J+OMjA511mqi0ndW0VvzpGKY/VBSioeMtDONb7D3oHtmFsJqjcB2kvOhBEm3W0zD/" +
  "NFk6/UfJ4s5NH4z8KY8QGpTkaBn3rVu2BoIBE4x9czI8wLPgaH2c1TAZ4M+lttBWnb+vtvaAwFZF7CJXziv1PDcQlg76JuoERLYDghw0atNAGR" +
  "DvF5a/064YkFjewpSspgX495OeVhZHxMJcvgWHWe+nPyGRZIqNzBm2ywB1FES9FyEG6KMe8P730yy7gjmS/b/x73lmEx4YpP7sGHPoHZkla1U8" +
  "am5vVM+hLeNZPKZViCn/QRBzJVQ25BdQ9iDUBMpo3UK/UGMDF6q/GnY4dcq/TWPNf9+FBhAshUBlt1ws8dQ5jCtd8tG2tH4nihTajlYR3f7lj6" +
  "WNdM4hI+VNOp3genk3zNj2/muIRGYKnTwy65MMOiiB9orKc87IllMahUnLVMQ9SJta1qA7MTOXa24jlZHJWiSmkzGo/nSylaZmpR6q7lgM+RMy" +
  "2nY5+Lp0iNjpngoY4VHbbhMvhzwth3La/28oueXpW5dhM5znKcDCEGSCkHHAermbU8nf17aXmrhb1o4qsoUhdlEqj6TeFX7WaWU0fsjMTAWu1m" +
  "NWfwlra0xqi7MMKaXTHC9WrYkLrYnMbK03zNSKF5G1KVijgCPzkoGLWHgj0T3K+vMW0VlaxtGPYXvQHsPtUB0ruCQ4+QzSzM6SzV4G7d7MIBbs" +
  "84z2BrE+JR7BH7NHEZ7mLu8vVULkE9OOKFRDMEYA9CDdGvkcz1Lh2mnnl6haEHIis+aHmxLydd0FiR9Ho1p4XAewlUCt2mpTgpqwfWeFgNhl0c" +
  "KnJ52QjEVbI3U5eEJnVzaKboHc0Slx2QIV80xsNcKCrJcbuXpUHB6w3/X+XJTI0KH74NPESyuNcxdKK5QkDHzqyuSMb9aD2oQVi8B8qab+wcPO" +
  "Z7qjWq7uZVfVjV0wBKr/w8MytXT3bb7hzIvlbZvFZvkj5v8kvjonotsnELbx1gT0rMY8mJLubtmxGd91B8EOlb2feBrs+H8XcaEMj3XihHT9Tt" +
  "93+OeuremSQe/EljxltvU4d2L68WwmRd89K4NjekbwsjO8VkLUd0LF0cI9Vijy+TGoZVAyYBWzCacKWgwJjEuHM/nYEeTpp9f3kII1SSl9HDcm" +
  "z5ZB7qYLlo9+VnRoQmmuxz2Ot1dChe2oUI4cdMlTD9fa45hWLeFAm5/eYupNCbrmGRC9WBff21q5KIozL3bPHBeShP6r1zFG01nUlpLlvlG+Kw" +
  "q5tOirJyaIjbU1vEDR7IS+ESvXQ/p/lrZomjvKrbIfi9FqCcQxTYndDjJ12+xpkaFyKFhOyShOOQ2kbcVWunlasdkS1C6Hn0wOqwh12zWFJTaH" +
  "8vOdUkqepmPq3yzjIiBLrae6ixzkdzwHsWFIURipGm85ipmRRxsx9/09hICuNE1BGG/cd486lBjDk2W050LdQmOlbokn4S0+0Dp1/OJ+J3QN3E" +
  "f64cZXLX5gjRZyA9c8hz9BAzqerxGZmoIp+3OOYTvCFc1gnRNSVlXmuP4R7uyU1Fnt09p6hYKTMn+aBZgK0AaxAZQCrXp1OjldMDvkA+bnIYvy" +
  "y0Zax7mp7CSaNj4GLmjhSVS46F57QLtgVmF03O8c3QHyiT2lM3UmLKFi0HodkZAwYrChseewtgVbNCWWR/nZhC9ASFlCva88AEM2WmwvB+0UE7" +
  "bPZE0kyf+UjsDZ51Wm2Ql1yhZ2uMLUgOEXf1Nr+BC3bStsgHkBXp76DFUs6grw5Vt8Bf5LaDSADcNV3+/7q9dGjpxeGhfhSVrSPlTFUYCrNcCt" +
  "EFDZ+jntApARDVgDvhvw1qulQNsVgx6kz5aGibJfhoR0khBjq2xEWqhquc4JHYu/kv7UTbhPW6cvlJyW+fORbc82ja8i/EfLoc9xvGcuDkRsqg" +
  "Ry9HlJmqhXm9q3mNB1sFAO67Kf4aSftOWabAF8SfU2yGHqdhpHKSpMrJCbyBiRj+sGbUgjnc+E+bSqMqPpNK7C1G/x9CvhmiI3j9qpWDvGbKaK" +
  "l6tt8ywaXpKWqDLp9TPxaVylsSj69bSAzbQiH77cJDqcXqSr3kbsDs+vVucwlBcteZpaTVe7Ch5FhavyBZ8S0u2gk4XOmEycSgQVek5PfwZ+if" +
  "owxLdBldrMk7Jg+AjgtCgLUepskyp4Bj4yio2HGmFBUVqzC4ffo1Ylu8h1KZQqT2w1QsgtaJ5DdriFNFn4NoVIuxYy2miz/HntoABjMvcvU9hx" +
  "GfH7MeXPvhoZ0495R0L7o3NEUr3RGQdL1DkO9UB/NXzxcmk67QdAwkjNqn3bWuqPoJRX+aVeKt7rVBqKQmLlDNqtGpwqrsKUpWR2qrwQpLMPKw" +
  "m5FyfZvdNn9ZFuZgad1j2A6I+gSWkgKMEaf7YFYq8UVsY/YOZpYR+qDJWBOerCkJs0ZJYDjm2daYSrfmqd3YxdYUIaEOPKVrBbAkaYIwgrTKMZ" +
  "UiTZEg7l6QhzhnF8OYFPcNLT7DAM3UNDgNZhNF6VBVESfCYti9Om5oNbwznBHmmuQCTxUi6Nkm4vGhsbMB2JkE4lOr+Es2UAekCShHScJaZi2b" +
  "SZ1CQ4GzBy6aHRjVtElHqHE6KQ/Lt1C0Mh9TFzCILsUIL8MNAWQjZy8MOjsKJaL/WPBRHRTH4I/sOlqgTHg8hZQXCHsorBYZDZIYTRoVhgcDzI" +
  "7EzyxPvoYeSP4EZ/+unvCeadBBvlEhwLMTvT4LjTvmKeHSCGaAChCIS4rZ23vgHgJw9KcNyZnYkmnJ5MawJ64ZkOIGp9veH0xZYz3dBaTVU/5q" +
  "OdyGC5j7qMK5lquuCni1OOUwT46j3WLYO6FBcH4fiPHkqY5ijkmgPUfmWo3x2yKVH1E6B55XZluWNUz0nslYcPWkNN/4O06lSH+O/oOoM6jLFf" +
  "S1dex5swKT4cNhfSBe3Rr6YSsMT40JY9lELsq9LmImIS8noep4Pm8gagON//z2GX3SL4+vtbkbJjLNaciQVA0a4+I8bbmzXvn3x+CNvbvVEeha" +
  "SkLVnCyP/GJSaXgjYd/Jr18zdEKhMkNNvtbza20lvMDOepbv4YwB0/TWTTjEk7CKLs7jTJufEFJjCWhQkX1b0xCoL5fXRiPTJeKHuxEx+cCyP1" +
  "C55I5MEZkBBn777q3zrFaESU37cNq32rzxKr5gK88dNazYhWBH2W5kQVS8ndTRwYs8zXYnaFABnx2KSUcNw3bUhckvpLtXlM5UuVsumF86N4Mb" +
  "vkV7soa2dWb6moU47axr4z9ttUoyWPZHROG7um8uU3bXbt/SvqE4WydN9pDFCv5k+QMBtgwxk93Ib9aC5tlDGLLyPPT1KZ8wj7rdYIinXbmuGb" +
  "x5YTBUddzurCY+rpahFF0RhEsFQx0jlZoER7GSc64BevdmWkmom/P4acBlZPpERfcLJfkXOXMW6lHGrfA38clRtZGRERTsvk226oVSzgj/teWF" +
  "X2gt4pqLBymZZBivbSMvEqCY+NZOPoYqhZa7YS4NmtWxc7bVA6R84vZ8s1wzxAwhn997tl74BfujUAUruayM3S+cptszrWKh/cMuD4ef8Sg823" +
  "+fXiSG7aahhx8toR9n+NPoadEvfECc/S682xp1JXxS1lWpdBhwag0o4yraLp8ChU6p19zjZkKCplO9M8ys6NR8WMZRrSfx01KBURy9uZacywfW" +
  "hkKjhazENn2+wDWRHHfowC"

const set = fromBinary(FileDescriptorSetSchema, brotliDecompressSync(Buffer.from(packed, "base64")))

/** All files by name, with their messages, enums and services. */
export const registry: FileRegistry = createFileRegistry(set)

/** The binary descriptor of a file, as reflection sends it. */
export function fileBytes(file: FileDescriptorProto): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, file)
}
