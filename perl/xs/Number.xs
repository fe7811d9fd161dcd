MODULE = Bytewright    PACKAGE = Bytewright::Number

UV
count(number, what, least)
    SV *number
    const char *what
    UV least
CODE:
    RETVAL = count_number(aTHX_ number, what, least);
OUTPUT:
    RETVAL
